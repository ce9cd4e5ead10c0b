// Looks on: one call waits for news, and what is beside the requests is read again with each.
import { readClock, startClock } from "./clock.js";
import { readSnapshots, showScope, startControls } from "./controls.js";
import { byId, element } from "./dom.js";
import { faultFor, forgetFaults, proposePaths, readFaults, startFaults } from "./faults.js";
import { knownTokens, showHints, startList, takeRequests } from "./list.js";
import { call, scope, useToken, withQuery } from "./plane.js";

const WAIT_MS = 20_000;

/** A busy emulator is read so often. */
const PAUSE_MS = 150;
const RETRY_MS = 1000;

const poll = { next: "", ended: new AbortController() };

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A page that nobody sees asks for nothing. */
function visible() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true });
  });
}

function setState(state, text) {
  const shown = byId("connection");
  shown.dataset.state = state;
  if (shown.textContent !== text) shown.textContent = text;
}

function setProblem(text) {
  const problem = byId("problem");
  problem.hidden = text === "";
  problem.textContent = text;
}

/** Begins again, as with another account. */
function anew() {
  poll.next = "";
  poll.ended.abort();
}

async function readAll(isFirst) {
  await Promise.all([readFaults(), readClock(), readSnapshots(), isFirst && proposePaths()]);
  const options = knownTokens().map((token) => element("option", { value: token }));
  byId("accounts").replaceChildren(...options);
}

async function look() {
  const { next } = poll;
  const asked = { after: next, wait_ms: next === "" ? 0 : WAIT_MS, ...scope };
  poll.ended = new AbortController();
  // An empty one is asked for, too.
  const path = `${withQuery("requests", asked)}${next === "" ? "&after=" : ""}`;
  const news = await call("GET", path, { signal: poll.ended.signal });
  takeRequests(news);
  await readAll(next === "");
  poll.next = poll.ended.signal.aborted ? "" : news.next;
}

/** Resolves when a token was given that may be the right one. */
function askToken() {
  const form = byId("access");
  const wasAsked = !form.hidden;
  form.hidden = false;
  setState("lost", "needs the control token");
  setProblem(wasAsked ? "That is not its control token." : "");
  byId("access-token").focus();
  return new Promise((resolve) => {
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        useToken(byId("access-token").value);
        byId("access-token").value = "";
        resolve();
      },
      { once: true },
    );
  });
}

async function follow() {
  for (;;) {
    try {
      await visible();
      await look();
      byId("access").hidden = true;
      setState("connected", "connected");
      setProblem("");
      await pause(PAUSE_MS);
    } catch (thrown) {
      await recover(thrown);
    }
  }
}

async function recover(thrown) {
  poll.next = "";
  if (thrown.name === "AbortError") return;
  if (thrown.status === 401) return await askToken();
  setState("lost", "not connected");
  const why = thrown.status === undefined ? "does not answer" : `refuses: ${thrown.message}`;
  setProblem(`The emulator at ${location.origin} ${why}. This page tries again by itself.`);
  await pause(RETRY_MS);
}

byId("account").addEventListener("change", async ({ target }) => {
  const token = target.value.trim();
  try {
    await call("GET", withQuery("faults", { token }));
    scope.token = token;
    target.setCustomValidity("");
    forgetFaults();
    showScope();
    showHints();
    anew();
  } catch (thrown) {
    target.setCustomValidity(thrown.message);
    target.reportValidity();
  }
});

startList(faultFor);
startFaults();
startClock();
startControls();
void follow();
