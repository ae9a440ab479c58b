// Sets the theme before the first paint, so that a dark page doesn't flash white.
{
  const asked = new URLSearchParams(location.hash.slice(1)).get("theme");
  let theme = asked;
  try {
    theme ??= JSON.parse(localStorage.getItem("referee") ?? "{}").theme;
  } catch {
    // Nothing stored: use the system's theme.
  }
  if (theme && ["light", "dark", "wood", "slate"].includes(theme)) document.documentElement.dataset.theme = theme;
}
