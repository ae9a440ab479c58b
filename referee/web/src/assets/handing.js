// @ts-check
// Handing in: files are dropped or chosen, the command is confirmed, and the upload is sent.

import { byId, count, errorMessage, fill, h, postForm } from "./common.js";

/** @typedef {import("./types.js").UploadLimits} UploadLimits */
/** @typedef {{path: string, file: File}} Chosen */

const MIB = 1 << 20;
/** Folders that are not handed in. */
const LEFT_OUT = [".git", ".hg", ".svn", "__pycache__", "node_modules", "matches"];

/** All files below what was dropped. @param {FileSystemEntry} entry @returns {Promise<Chosen[]>} */
async function filesOf(entry) {
  const path = entry.fullPath.replace(/^\//, "");
  if (LEFT_OUT.includes(entry.name)) return [];
  if (entry.isFile) {
    const own = /** @type {FileSystemFileEntry} */ (entry);
    return [{ path, file: await new Promise((done, failed) => { own.file(done, failed); }) }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {Chosen[]} */
  const found = [];
  for (;;) {
    // It returns a part at a time.
    /** @type {FileSystemEntry[]} */
    const part = await new Promise((done, failed) => { reader.readEntries(done, failed); });
    if (!part.length) return found;
    for (const inner of part) found.push(...await filesOf(inner));
  }
}

/** The form of an upload. @param {Chosen[]} chosen @param {string} command */
function form(chosen, command) {
  const data = new FormData();
  if (command) data.append("command", command);
  for (const { path, file } of chosen) data.append("file", file, path);
  return data;
}

/** @param {UploadLimits} limits @param {() => string} token @param {() => Promise<boolean>} refresh */
export function handIn(limits, token, refresh) {
  /** @type {Chosen[]} */
  let chosen = [];
  const said = h("div", { role: "status", class: "confirm" });
  const pick = (/** @type {Record<string, unknown>} */ more) => h("input", { type: "file", hidden: true, multiple: true, ...more,
    onchange: (/** @type {Event} */ event) => {
      const input = /** @type {HTMLInputElement} */ (event.currentTarget);
      const files = [...input.files ?? []];
      const all = files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
      choose(all.filter(({ path }) => !path.split("/").some((part) => LEFT_OUT.includes(part))));
      input.value = "";
    } });
  const [files, folder] = [pick({ "aria-label": "Files" }), pick({ webkitdirectory: true, "aria-label": "Folder" })];
  const button = (/** @type {string} */ text, /** @type {HTMLInputElement} */ input) =>
    h("button", { type: "button", onclick: () => input.click() }, text);
  const buttons = [button("Choose files", files), button("Choose a folder", folder)];
  const drop = h("div", { class: "drop" },
    h("p", null, "Drop a folder, an archive (.zip, .tar.gz) or one file here, or choose it:"),
    h("div", { class: "inline" }, buttons), files, folder,
    h("p", { class: "soft" }, `Up to ${limits.upload_mb} MiB, unpacked ${limits.unpacked_mb} MiB, ` +
      `and ${count(limits.files, "file")}; ${limits.uploads_an_hour} times in an hour, ${limits.uploads_a_day} in a day.`));
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const entries = [...event.dataTransfer?.items ?? []].map((item) => item.webkitGetAsEntry());
    try {
      const parts = await Promise.all(entries.map((entry) => (entry ? filesOf(entry) : [])));
      await choose(parts.flat());
    } catch (error) {
      fill(said, errorMessage(error));
    }
  });
  fill(byId("hand-in"), h("h2", null, "Hand in"), drop, said);

  /** Asks the server how the agent is started, and shows it to confirm. @param {Chosen[]} files */
  const choose = async (files) => {
    chosen = files;
    const bytes = chosen.reduce((sum, { file }) => sum + file.size, 0);
    if (!chosen.length) {
      fill(said, errorMessage(new Error("there are no files in it")));
      return;
    }
    if (bytes > limits.upload_mb * MIB || chosen.length > limits.files) {
      fill(said, errorMessage(new Error(`this is too large: ${count(chosen.length, "file")}, ${Math.ceil(bytes / MIB)} MiB`)));
      return;
    }
    fill(said, h("p", null, "Looking at it …"));
    try {
      confirm(await postForm("/api/team/look", form(chosen, ""), token()));
    } catch (error) {
      fill(said, errorMessage(error));
    }
  };

  /** @param {{is_set: boolean, language: string|null, command: string|null}} looked */
  const confirm = ({ is_set: isSet, language, command }) => {
    const input = h("input", { type: "text", value: command ?? "", autocomplete: "off", spellcheck: "false",
      placeholder: "python3 bot.py" });
    const send = h("button", { type: "button", class: "main" }, "Hand in");
    const cancel = h("button", { type: "button", onclick: () => fill(said) }, "Cancel");
    const first = chosen[0]?.path ?? "";
    const name = chosen.length > 1 ? count(chosen.length, "file") : first;
    send.addEventListener("click", async () => {
      send.disabled = true;
      fill(send, "Sending …");
      try {
        const { version } = await postForm("/api/team/versions", form(chosen, isSet ? "" : input.value), token());
        fill(said, h("p", null, `Version ${version} is handed in. You may close this page: its steps go on.`));
        await refresh();
      } catch (error) {
        fill(said, errorMessage(error));
      }
    });
    const how = isSet
      ? h("p", null, `${name}: it says itself how it is started.`)
      : [h("p", null, language ? `${name}: ${language}.` : `${name}: which command starts it?`),
        h("label", null, "Command", input)];
    fill(said, how, h("div", { class: "inline" }, send, cancel));
    (isSet ? send : input).focus();
  };

  /** @param {boolean} may */
  const show = (may) => {
    for (const one of buttons) one.disabled = !may;
  };
  return { show };
}
