// Rules by which the emulator misbehaves. One that was turned off here stays as long as the page is
// open, so that it can be turned on again.
import { byId, element } from "./dom.js";
import { act, call, ofScope, scope, withQuery } from "./plane.js";

/** The common ones; a number goes into the effect that it is of. */
const KINDS = [
  { name: "The answer is lost, after the commit", effect: { disconnect: "after" } },
  { name: "The connection is cut, before", effect: { disconnect: "before" } },
  { name: "A status", number: { of: "status", label: "Status", start: "503" } },
  { name: "429, come back later", number: { of: "retry_after", label: "Seconds", start: "2" } },
  { name: "A slow answer", number: { of: "latency_ms", label: "Milliseconds", start: "2000" } },
  { name: "The answer breaks off", effect: { truncate: true } },
  { name: "The answer is no JSON", effect: { malformed: true } },
  { name: "No answer ever comes", effect: { silent: true } },
];

/** As the emulator told them last. */
let rules = [];

/** By id: those that the emulator has no more because they were turned off here. */
const off = new Map();

export function startFaults() {
  const kind = byId("fault-kind");
  kind.append(...KINDS.map(({ name }, at) => element("option", { value: String(at) }, name)));
  kind.addEventListener("change", askNumber);
  askNumber();
  byId("fault-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void act("faults", () => add(wanted()));
  });
  byId("fault-rules").addEventListener("change", ({ target }) => {
    const { dataset, checked } = target;
    void act("faults", () => turn(dataset.rule, checked)).finally(draw);
  });
  byId("fault-rules").addEventListener("click", ({ target }) => {
    const { remove } = target.dataset;
    if (remove === undefined) return;
    void act("faults", async () => {
      await take(remove);
      off.delete(remove);
      byId("fault-kind").focus();
      await readFaults();
    });
  });
}

/** The paths that are served are proposed. */
export async function proposePaths() {
  const { routes } = await call("GET", "routes");
  const paths = new Set(["/v1/*", "/api/*", ...routes.map(({ path }) => path)]);
  const options = [...paths].map((path) => element("option", { value: path }));
  byId("fault-paths").replaceChildren(...options);
}

/** Fills the form for a request's like. */
export function faultFor({ method, path }) {
  const { options } = byId("fault-method");
  const known = [...options].find(({ value }) => value === method) ?? options[0];
  known.selected = true;
  byId("fault-path").value = path;
  byId("faults").scrollIntoView({ block: "nearest" });
  byId("fault-kind").focus();
}

export async function readFaults() {
  const { faults } = await call("GET", withQuery("faults", scope));
  rules = faults;
  for (const { id } of rules) off.delete(id);
  draw();
}

/** Those of another account are not this one's. */
export function forgetFaults() {
  off.clear();
}

function askNumber() {
  const { number } = KINDS[byId("fault-kind").value];
  byId("fault-value-field").hidden = number === undefined;
  byId("fault-value").required = number !== undefined;
  byId("fault-value").value = number?.start ?? "";
  byId("fault-value-field").firstElementChild.textContent = number?.label ?? "";
}

function wanted() {
  const { effect, number } = KINDS[byId("fault-kind").value];
  const method = byId("fault-method").value;
  const path = byId("fault-path").value.trim();
  return {
    ...ofScope(),
    ...(method !== "any method" && { method }),
    ...(path !== "" && { path }),
    times: Number(byId("fault-times").value),
    ...(number ? { [number.of]: Number(byId("fault-value").value) } : effect),
  };
}

async function add(rule) {
  await call("POST", "faults", { body: rule });
  await readFaults();
}

function take(id) {
  return call("DELETE", withQuery("faults", { id }));
}

async function turn(id, on) {
  const { hits, remaining, ...rule } = off.get(id) ?? rules.find((each) => each.id === id);
  // One that is used up is there still.
  await take(id);
  off.set(id, { ...rule, hits, remaining: 0 });
  if (on) await add(rule);
  else await readFaults();
}

function draw() {
  const all = [...rules, ...off.values()];
  byId("no-faults").hidden = all.length > 0;
  const list = byId("fault-rules");
  const focused = document.activeElement?.dataset ?? {};
  list.replaceChildren(...all.map(rowOf));
  const again = [...list.querySelectorAll("input, button")].find(({ dataset }) => {
    const { rule, remove } = dataset;
    return rule === focused.rule && remove === focused.remove && (rule ?? remove) !== undefined;
  });
  again?.focus();
}

function rowOf(rule) {
  const { id, hits, times } = rule;
  const toggle = element("input", { type: "checkbox", checked: rule.remaining > 0 });
  toggle.setAttribute("role", "switch");
  toggle.dataset.rule = id;
  const remove = element("button", { className: "quiet" }, "Remove");
  remove.dataset.remove = id;
  remove.setAttribute("aria-label", `Remove ${id}`);
  return element(
    "li",
    {},
    element(
      "label",
      { className: "switch" },
      toggle,
      element("span", {}, element("b", {}, effectOf(rule)), " ", element("code", {}, whomOf(rule))),
    ),
    element("span", { className: "note" }, `${id}: ${hits} of ${times} hit`),
    remove,
  );
}

function effectOf(rule) {
  const names = ["status", "error", "retry_after", "latency_ms", "disconnect", "truncate"];
  return [...names, "malformed", "silent", "refuse_item"]
    .filter((name) => rule[name] !== undefined && rule[name] !== false)
    .map((name) => (rule[name] === true ? name : `${name} ${text(rule[name])}`))
    .join(", ");
}

function text(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function whomOf({ method = "", path = "any path", token, probability = 1 }) {
  const chance = probability < 1 ? ` with ${probability}` : "";
  const whose = token === undefined ? "" : ` of ${token}`;
  return `${method} ${path}${whose}${chance}`.trim();
}
