// The emulator's clock.
import { byId, counted } from "./dom.js";
import { act, call } from "./plane.js";

const DURATION = /^\d+(\.\d+)?(ms|s|m|h|d)?$/;

/** Milliseconds from this machine's clock to that one. */
const shown = { aheadMs: 0, frozen: true, now: "" };

export function startClock() {
  byId("frozen").addEventListener("change", ({ target }) => {
    void move(target.checked ? { freeze: true } : { resume: true });
  });
  byId("clock").addEventListener("click", ({ target }) => {
    const { advance } = target.dataset;
    if (advance !== undefined) void move({ advance });
  });
  byId("clock-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const to = byId("clock-to").value.trim();
    if (!DURATION.test(to)) void move({ set: to });
    else void move({ advance: /\d$/.test(to) ? Number(to) : to });
  });
  setInterval(draw, 250);
}

export async function readClock() {
  take(await call("GET", "clock"));
}

function move(body) {
  return act("clock", async () => {
    const moved = await call("POST", "clock", { body });
    take(moved);
    const { length } = moved.ran;
    return length === 0 ? "" : `${counted(length, "thing")} that fell due on the way ran.`;
  }).finally(() => {
    byId("frozen").checked = shown.frozen;
  });
}

function take({ now, frozen }) {
  shown.now = now;
  shown.frozen = frozen;
  shown.aheadMs = Date.parse(now) - Date.now();
  byId("frozen").checked = frozen;
  draw();
}

function draw() {
  if (shown.now === "") return;
  const now = shown.frozen ? shown.now : new Date(Date.now() + shown.aheadMs).toISOString();
  byId("now").textContent = now.replace("T", " ").slice(0, 19);
  byId("now").dateTime = now;
}
