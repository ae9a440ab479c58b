"""Makes a package of the folder around the agent's, by mistake."""
