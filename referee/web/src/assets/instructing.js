// @ts-check
// What an instructor does: forms that send an act, and say what came of it.

import { errorMessage, fill, h, postAs } from "./common.js";

/** @typedef {{name: string, title: string, type?: string, wide?: boolean, [more: string]: unknown}} FieldOf */

/** @param {() => string} token @param {() => Promise<boolean>} refresh */
export function acting(token, refresh) {
  /** Sends an act, and shows what came of it. @param {Record<string, unknown>} act @param {Element} said */
  const send = async (act, said) => {
    try {
      const { text, link } = await postAs("/api/instructor", act, token());
      fill(said, h("p", null, `Done: ${text}.`),
        link && h("p", null, "Its link, which is shown once:"), link && h("p", { class: "link" }, link));
      await refresh();
      return true;
    } catch (error) {
      fill(said, errorMessage(error));
      return false;
    }
  };

  /** A form with fields and a button. `make` turns the values into an act. With `sure`, a second press confirms it.
   * @param {FieldOf[]} fields @param {string} button
   * @param {(values: Record<string, string>) => Record<string, unknown>} make
   * @param {{sure?: string, said: Element, keep?: boolean}} how */
  const form = (fields, button, make, { sure = "", said, keep = false }) => {
    const inputs = fields.map(({ name, title: _, wide: __, ...more }) =>
      h("input", { type: "text", name, autocomplete: "off", ...more }));
    const press = h("button", { type: "submit", class: sure ? "danger" : null }, button);
    const calm = () => {
      press.dataset["sure"] = "";
      fill(press, button);
    };
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      if (sure && press.dataset["sure"] !== "1") {
        press.dataset["sure"] = "1";
        fill(press, sure);
        return;
      }
      calm();
      press.disabled = true;
      const values = Object.fromEntries(inputs.map(({ name, value }) => [name, value]));
      const isDone = await send(make(values), said);
      press.disabled = false;
      if (isDone && !keep) for (const input of inputs) input.value = "";
      press.focus();
    };
    const element = h("form", { class: "act", onsubmit: submit, oninput: calm },
      inputs.map((input, at) =>
        h("label", { class: fields[at]?.wide ? "wide" : null }, fields[at]?.title ?? "", input)), press);
    return { element, inputs, calm, press };
  };
  return { form, send };
}

/** A time of an input in the browser's zone, as the server reads it. @param {string|undefined} value */
export function sent(value) {
  return value ? new Date(value).toISOString() : "";
}

/** The same the other way. @param {string|null} stamp */
export function local(stamp) {
  if (!stamp) return "";
  const date = new Date(stamp);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
