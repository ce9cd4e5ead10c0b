// Making elements. Texts are set as texts, so that nothing that a client sent becomes HTML.

export function byId(id) {
  return document.getElementById(id);
}

/** A new element; `properties` are those of the element, or attributes under `attributes`. */
export function element(name, { attributes = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

/** A value for people to read. */
export function shownValue(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Of 2026-01-31T12:00:00.000Z the time of day. */
export function timeOfDay(timestamp) {
  return timestamp.slice(11, 23);
}

/** One thing, or several: "1 request", "2 requests". */
export function counted(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

/** Resolves to whether it is to be done. The way that changes nothing has the focus. */
export function confirmed(question, yes) {
  const dialog = byId("confirm");
  byId("confirm-text").textContent = question;
  byId("confirm-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  byId("confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
