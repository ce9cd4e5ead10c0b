// Limits, snapshots, and forgetting.
import { byId, confirmed, element } from "./dom.js";
import { act, call, ofScope, scope, withQuery } from "./plane.js";

export function startControls() {
  byId("limits").addEventListener("click", ({ target }) => {
    const { limits } = target.dataset;
    if (limits !== undefined) void setLimits(target.textContent, JSON.parse(limits));
  });
  byId("snapshot-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void act("snapshots", async () => {
      const name = byId("snapshot-name").value;
      await call("POST", "snapshots", { body: { name, ...ofScope() } });
      byId("snapshot-name").value = "";
      return `Kept as ${name}.`;
    });
  });
  byId("snapshot-list").addEventListener("click", ({ target }) => {
    const { restore, remove } = target.dataset;
    if (restore !== undefined) void restoreSnapshot(restore);
    if (remove !== undefined) void removeSnapshot(remove);
  });
  byId("reset-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void reset(byId("reset-scope").selectedOptions[0]);
  });
  byId("clear-requests").addEventListener("click", () => {
    void act("requests", async () => void (await call("DELETE", withQuery("requests", scope))));
  });
  showScope();
}

/** Says whose everything here is. */
export function showScope() {
  const isAll = scope.token === "";
  byId("limits-of").textContent = isAll
    ? "Of all accounts. To use up a window, name an account above."
    : `Of the account of ${scope.token}.`;
  for (const button of document.querySelectorAll("[data-of-one]")) button.disabled = isAll;
}

export async function readSnapshots() {
  const { snapshots } = await call("GET", withQuery("snapshots", scope));
  const rows = snapshots.map(({ name }) => {
    const restore = element("button", { className: "quiet" }, "Restore…");
    restore.dataset.restore = name;
    restore.setAttribute("aria-label", `Restore ${name}`);
    const remove = element("button", { className: "quiet" }, "Delete");
    remove.dataset.remove = name;
    remove.setAttribute("aria-label", `Delete ${name}`);
    return element("li", {}, element("span", { className: "grow" }, name), restore, remove);
  });
  const list = byId("snapshot-list");
  const names = (each) => [...each].map((row) => row.textContent).join("\n");
  // Drawn anew only for others: the buttons keep the focus.
  if (names(list.children) !== names(rows)) list.replaceChildren(...rows);
}

function whose() {
  return scope.token === "" ? "of all accounts" : `of the account of ${scope.token}`;
}

function setLimits(name, change) {
  return act("limits", async () => {
    await call("POST", "limits", { body: { ...change, ...ofScope() } });
    return `${name}: done, ${whose()}.`;
  });
}

function restoreSnapshot(name) {
  return act("snapshots", async () => {
    const question = `Put back ${name}? What is stored now ${whose()} is gone then.`;
    if (!(await confirmed(question, "Put it back"))) return "";
    await call("POST", "snapshots/restore", { body: { name, ...ofScope() } });
    return `${name} is put back.`;
  });
}

function removeSnapshot(name) {
  return act("snapshots", async () => {
    if (!(await confirmed(`Delete the snapshot ${name}?`, "Delete it"))) return "";
    await call("DELETE", withQuery(`snapshots/${encodeURIComponent(name)}`, scope));
    return `${name} is deleted.`;
  });
}

function reset(option) {
  return act("reset", async () => {
    const question = `Forget ${option.textContent} ${whose()}? There is no way back.`;
    if (!(await confirmed(question, "Forget it"))) return "";
    const body = { scope: option.value, ...ofScope() };
    const { cleared } = await call("POST", "reset", { body });
    const { memories, projects, requests, faults, tokens } = cleared;
    const counts = [
      [memories, "memory", "memories"],
      [projects, "project", "projects"],
      [requests, "request", "requests"],
      [faults, "fault", "faults"],
      [tokens, "token", "tokens"],
    ];
    const told = counts
      .filter(([count]) => count > 0)
      .map(([count, one, many]) => (count === 1 ? `1 ${one}` : `${count} ${many}`));
    return told.length === 0 ? "Forgotten." : `Forgotten: ${told.join(", ")}.`;
  });
}
