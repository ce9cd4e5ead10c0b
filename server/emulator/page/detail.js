// All that is known of one request.
import { curlOf } from "./curl.js";
import { byId, counted, element, shownValue, timeOfDay } from "./dom.js";

/** What may have the focus in here, and keeps it when more becomes known. */
const FOCUSABLE = ["detail-close", "detail-copy", "detail-break"];

/** Fills the pane. `actions`: what its buttons do. */
export function showDetail(seen, actions) {
  const pane = byId("detail");
  const focused = document.activeElement?.id;
  pane.replaceChildren(...partsOf(seen, actions));
  pane.hidden = false;
  document.body.classList.add("reading");
  if (FOCUSABLE.includes(focused)) byId(focused)?.focus();
}

export function hideDetail() {
  byId("detail").hidden = true;
  document.body.classList.remove("reading");
}

function partsOf(seen, { close, breakIt }) {
  const isSocket = seen.frames !== undefined;
  return [
    element(
      "div",
      { className: "bar" },
      element("h2", { id: "detail-title" }, `${seen.method} ${seen.path}`),
      element("button", { id: "detail-close", onclick: close }, "Close"),
    ),
    element("p", { className: "facts" }, factsOf(seen)),
    seen.why !== undefined && element("p", { className: "why" }, seen.why),
    ...(seen.violations ?? [])
      .filter(({ text }) => text !== seen.why)
      .map(({ rule, text }) =>
        element("p", { className: "why" }, element("b", {}, rule), ` ${text}`),
      ),
    seen.query !== "" && textPart("Query", seen.query),
    headersPart("Headers", seen.headers),
    seen.body !== undefined && textPart(bodyTitle(seen), shownValue(seen.body)),
    seen.response_headers !== undefined && headersPart("Answer's headers", seen.response_headers),
    seen.response_body !== undefined && textPart("Answer", shownValue(seen.response_body)),
    ...(isSocket ? socketParts(seen) : replayParts(seen)),
    element("button", { id: "detail-break", onclick: () => breakIt(seen) }, "Add a fault for this"),
  ].filter((part) => part !== false);
}

/** What became of it, in a line. */
function factsOf({ id, status, aborted, injected, token, received_at, finished_at, closed }) {
  const tookMs = finished_at === undefined ? 0 : Date.parse(finished_at) - Date.parse(received_at);
  const end = closed && `closed with ${closed.code} by the ${closed.by}`;
  const open = finished_at === undefined ? "not answered yet" : "cut without an answer";
  return [
    aborted ? "the client gave up" : (status ?? open),
    end && (closed.reason === "" ? end : `${end}: ${closed.reason}`),
    tookMs > 0 && `${tookMs.toLocaleString("en")} ms`,
    `at ${received_at}`,
    token ?? "no token",
    injected !== undefined && `fault ${injected}`,
    id,
  ]
    .filter((fact) => fact !== undefined && fact !== false)
    .join(" · ");
}

function bodyTitle({ truncated, bytes }) {
  return truncated ? `Body, the beginning of ${counted(bytes, "byte")}` : "Body";
}

function heading(text) {
  return element("h3", {}, text);
}

function preformatted(text, label) {
  const attributes = { "aria-label": label, role: "region" };
  return element("pre", { tabIndex: 0, attributes }, text);
}

function textPart(title, text) {
  return element("div", {}, heading(title), preformatted(text, title));
}

function headersPart(title, headers) {
  const rows = Object.entries(headers).map(([name, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)),
  );
  return element(
    "details",
    {},
    element("summary", {}, `${title} (${rows.length})`),
    element("table", {}, ...rows),
  );
}

function socketParts({ frames, frames_dropped: dropped = 0 }) {
  const rows = frames.map(({ from, at, body, bytes, truncated }) =>
    element(
      "li",
      {},
      element(
        "span",
        { className: "note" },
        `${timeOfDay(at)} ${from === "client" ? "from the client" : "to the client"}, ${counted(bytes, "byte")}`,
      ),
      preformatted(
        body === undefined ? "binary" : `${shownValue(body)}${truncated ? "…" : ""}`,
        "Frame",
      ),
    ),
  );
  return [
    heading(`Frames (${frames.length}${dropped > 0 ? `, and ${dropped} before` : ""})`),
    element("ol", { className: "frames" }, ...rows),
  ];
}

function replayParts(seen) {
  if (seen.truncated) return [];
  const command = curlOf(seen, location.origin);
  const shown = preformatted(command, "Command");
  const button = element("button", { id: "detail-copy" }, "Copy");
  button.onclick = async () => {
    button.textContent = (await copied(command, shown)) ? "Copied" : "Marked: press Ctrl+C";
  };
  const bar = element("div", { className: "bar" }, heading("Again, as a command"), button);
  // What the emulator tells of a body is JSON, and no secret.
  const isAnew = typeof seen.body === "object" && seen.body !== null;
  const note = "Its body is written anew: spaces, numbers and secrets may differ from what came.";
  return [bar, ...(isAnew ? [element("p", { className: "note" }, note)] : []), shown];
}

/** Whether it is in the clipboard, which pages have on this machine alone, or else marked. */
async function copied(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(shown);
    return false;
  }
}
