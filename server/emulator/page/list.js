// The requests, the newest first. One of them is shown whole.
import { hideDetail, showDetail } from "./detail.js";
import { byId, counted, element, timeOfDay } from "./dom.js";
import { scope } from "./plane.js";

/** More rows than these help nobody; the journal has them. */
const ROWS_MAX = 500;

/** By serial: what came, and its row. */
const known = new Map();
const shown = { serial: undefined, dropped: 0, breakIt: undefined };

/** Calls `breakIt` with a request that is to misbehave the next time. */
export function startList(breakIt) {
  shown.breakIt = breakIt;
  byId("filter").addEventListener("input", () => redraw());
  byId("list").addEventListener("keydown", moveByKey);
  document.addEventListener("keydown", (event) => {
    const isOpen = document.body.classList.contains("reading") && !byId("confirm").open;
    // In a field it is the field's.
    if (event.key === "Escape" && isOpen && !event.target.matches("input, select")) close();
  });
  showHints();
}

/** How a client of the account gets here, which is the usual one where none was named. */
export function showHints() {
  const token = scope.token === "" ? "mst_dev_pro" : scope.token;
  byId("variables").textContent =
    `export MEMSYNC_URL=${location.origin}\nexport MEMSYNC_TOKEN=${token}`;
  byId("first-request").textContent = [
    `curl ${location.origin}/v1/memories \\`,
    `  -H 'Authorization: Bearer ${token}' \\`,
    `  -d '{"content": "use make, not npm", "layer": "user"}'`,
  ].join("\n");
}

/** Takes what has changed. */
export function takeRequests({ requests, dropped, whole }) {
  const before = new Map(known);
  if (whole) known.clear();
  for (const seen of requests) {
    known.set(seen.serial, { seen, row: before.get(seen.serial)?.row ?? newRow(seen.serial) });
  }
  const oldest = [...known.keys()].slice(0, Math.max(0, known.size - ROWS_MAX));
  for (const serial of oldest) known.delete(serial);
  shown.dropped = dropped;
  for (const { serial } of requests) {
    const entry = known.get(serial);
    if (entry) fill(entry);
  }
  redraw();
  const current = known.get(shown.serial);
  const isNews = requests.some(({ serial }) => serial === shown.serial);
  if (current === undefined) forget();
  else if (isNews) showDetail(current.seen, actions);
}

/** The tokens that were seen and that are whole. */
export function knownTokens() {
  const tokens = [...known.values()].map(({ seen }) => seen.token ?? "");
  return [...new Set(tokens.filter((token) => token.startsWith("mst_dev_")))].sort();
}

const actions = {
  close: () => close(),
  breakIt(seen) {
    // Where one request has the page to itself, the form is not there beside it.
    if (matchMedia("(max-width: 60rem)").matches) forget();
    shown.breakIt(seen);
  },
};

function newRow(serial) {
  const button = element("button", { className: "request", onclick: () => open(serial) });
  button.dataset.serial = serial;
  return element("li", {}, button);
}

function fill({ seen, row }) {
  const { method, path, query, received_at: at, token, injected, violations = [], frames } = seen;
  const state = stateOf(seen);
  row.firstElementChild.replaceChildren(
    element("span", { className: "time" }, timeOfDay(at)),
    element("span", { className: `method ${method.toLowerCase()}` }, method),
    element("span", { className: "path" }, query === "" ? path : `${path}?${query}`),
    element("span", { className: "status", attributes: { "data-state": state.kind } }, state.text),
    element(
      "span",
      { className: "marks" },
      element("span", { className: "token" }, token ?? "no token"),
      injected !== undefined && element("span", { className: "mark" }, "fault"),
      violations.length > 0 &&
        element("span", { className: "mark bad" }, counted(violations.length, "violation")),
      frames !== undefined &&
        element("span", { className: "mark" }, counted(frames.length, "frame")),
    ),
  );
}

function stateOf({ status, aborted, finished_at: finishedAt, closed, frames }) {
  if (aborted) return { kind: "bad", text: "gave up" };
  if (frames !== undefined) return { kind: "good", text: closed ? String(closed.code) : "open" };
  if (status === undefined) {
    return finishedAt === undefined ? { kind: "open", text: "…" } : { kind: "bad", text: "cut" };
  }
  return { kind: status < 400 ? "good" : "bad", text: String(status) };
}

function redraw() {
  const words = byId("filter")
    .value.toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const fits = ({ row }) => {
    const text = row.textContent.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const rows = [...known.entries()]
    .toSorted(([one], [other]) => other - one)
    .filter(([, entry]) => fits(entry))
    .map(([, { row }]) => row);
  place(rows);
  const total = known.size + shown.dropped;
  byId("count").textContent = total === 0 ? "" : total.toLocaleString("en");
  byId("empty").hidden = total > 0;
  byId("none-fits").hidden = rows.length > 0 || known.size === 0;
  mark();
}

/** Moves no row that is where it belongs, so that none loses the focus. */
function place(rows) {
  const list = byId("list");
  const wanted = new Set(rows);
  for (const row of [...list.children]) if (!wanted.has(row)) row.remove();
  let next = list.firstElementChild;
  for (const row of rows) {
    if (row === next) next = next.nextElementSibling;
    else list.insertBefore(row, next);
  }
}

/** One row is reached by Tab, the others from there by the arrows. */
function mark() {
  const buttons = [...byId("list").querySelectorAll("button")];
  const current = buttons.find(({ dataset }) => Number(dataset.serial) === shown.serial);
  const stop = buttons.find((each) => each === document.activeElement) ?? current ?? buttons[0];
  for (const button of buttons) {
    button.tabIndex = button === stop ? 0 : -1;
    if (button === current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function moveByKey(event) {
  const buttons = [...byId("list").querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (at === -1 || buttons[to] === undefined) return;
  event.preventDefault();
  buttons[to].focus();
  mark();
}

function open(serial) {
  shown.serial = serial;
  showDetail(known.get(serial).seen, actions);
  mark();
  byId("detail").scrollTop = 0;
  byId("detail").scrollIntoView();
  byId("detail").focus({ preventScroll: true });
}

function forget() {
  shown.serial = undefined;
  hideDetail();
  mark();
}

function close() {
  const { serial } = shown;
  forget();
  known.get(serial)?.row.firstElementChild.focus();
}
