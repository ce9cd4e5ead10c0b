import { expect, test } from "bun:test";
import {
  LIVE_LINK_IDLE,
  LIVE_PHASES,
  type LiveEffect,
  type LiveEvent,
  type LiveLinkState,
  type LivePhase,
  stepLive,
} from "../../daemon/sync/live-machine.ts";
import { TOKEN_INVALID } from "../../shared/wire/live.ts";
import { readTransitions } from "../support/transition-table.ts";

const WAITS_MS = [-1, 0, 5000];
const FAILURES = [0, 1, 8, 40];
const OPEN: readonly LivePhase[] = ["open", "live", "silent"];
const SOCKET: readonly LivePhase[] = ["opening", ...OPEN, "reopening"];

type Kind = LiveEvent["kind"];

function eventsOf(kind: Kind): LiveEvent[] {
  switch (kind) {
    case "due":
    case "hurry":
    case "answered":
    case "reopen":
    case "resume":
      return WAITS_MS.map((waitMs) => ({ kind, waitMs }));
    case "closed":
      return WAITS_MS.flatMap((waitMs) =>
        [undefined, TOKEN_INVALID].flatMap((code) =>
          [true, false].map((isReachable) => {
            return { kind, waitMs, code, isReachable, fraction: 0.5 } as const;
          }),
        ),
      );
    default:
      return [{ kind }];
  }
}

function statesIn(phase: LivePhase): LiveLinkState[] {
  const isOpen = OPEN.includes(phase);
  return FAILURES.map((failures) => ({ phase, failures, refusals: failures, isOpen }));
}

function stepsFrom(phase: LivePhase, kind: Kind) {
  const events = eventsOf(kind);
  return statesIn(phase).flatMap((state) => events.map((event) => stepLive(state, event)));
}

const EVENTS: readonly Kind[] = [
  "due",
  "hurry",
  "answered",
  "reopen",
  "resume",
  "pause",
  "stop",
  "opened",
  "subscribed",
  "silent",
  "heard",
  "closed",
];

test("each event leads where the table of the document says", async () => {
  const table = await readTransitions("docs/design/sync.md", "phase");
  expect(table.size).toBe(LIVE_PHASES.length * EVENTS.length);
  const found = new Map<string, string>();
  for (const phase of LIVE_PHASES) {
    for (const kind of EVENTS) {
      const phases = new Set(stepsFrom(phase, kind).map(({ state }) => state.phase));
      found.set(`${phase} ${kind}`, LIVE_PHASES.filter((each) => phases.has(each)).join(" or "));
    }
  }
  const sorted = (map: ReadonlyMap<string, string>) => [...map].sort();
  expect(sorted(found)).toEqual(sorted(table));
});

/** All that an event may bring about in any phase, with the phases before and after. */
function allSteps() {
  return LIVE_PHASES.flatMap((before) =>
    EVENTS.flatMap((kind) => stepsFrom(before, kind).map((step) => ({ before, kind, ...step }))),
  );
}

function has(effects: readonly LiveEffect[], kind: LiveEffect["kind"]): boolean {
  return effects.some((effect) => effect.kind === kind);
}

test("a socket is opened only where there is none, and none is left behind", () => {
  for (const { before, kind, state, effects } of allSteps()) {
    const hadSocket = SOCKET.includes(before) && kind !== "closed";
    if (has(effects, "open")) expect([before, kind, hadSocket]).toEqual([before, kind, false]);
    const isLeft = hadSocket && !SOCKET.includes(state.phase);
    if (isLeft) expect([before, kind, has(effects, "close")]).toEqual([before, kind, true]);
  }
});

test("whoever waits has a timer, and nobody else", () => {
  for (const { before, kind, state, effects } of allSteps()) {
    const begins = state.phase === "waiting" && (before !== "waiting" || has(effects, "wait"));
    expect([before, kind, has(effects, "wait")]).toEqual([before, kind, begins]);
    const ends = before === "waiting" && state.phase !== "waiting";
    if (ends) expect([before, kind, has(effects, "rest")]).toEqual([before, kind, true]);
  }
});

test("a service that answers calls and refuses every handshake is asked again within the hour", () => {
  let state: LiveLinkState = { phase: "opening", failures: 0, refusals: 0, isOpen: false };
  const delays: number[] = [];
  const told: string[] = [];
  for (let round = 0; round < 9; round++) {
    const closed = { kind: "closed", waitMs: 0, code: undefined, isReachable: true } as const;
    const step = stepLive(state, { ...closed, fraction: 1 });
    for (const effect of step.effects) {
      if (effect.kind === "wait") delays.push(effect.delayMs);
      if (effect.kind === "tell") told.push(effect.state);
    }
    ({ state } = stepLive(step.state, { kind: "due", waitMs: 0 }));
  }
  expect(told).toEqual([...Array(7).fill("down"), "absent", "absent"]);
  expect(delays.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
  expect(delays.slice(-2)).toEqual([1_800_000, 1_800_000]);
});

test("what failed while nobody answered is no sign that a service offers no socket", () => {
  const closed = { kind: "closed", waitMs: 0, code: undefined, fraction: 1 } as const;
  let state: LiveLinkState = { ...LIVE_LINK_IDLE, phase: "opening" };
  for (let round = 0; round < 20; round++) {
    ({ state } = stepLive(state, { ...closed, isReachable: false }));
    ({ state } = stepLive(state, { kind: "due", waitMs: 0 }));
  }
  const { effects } = stepLive(state, { ...closed, isReachable: true });
  expect(effects).toEqual([
    { kind: "tell", state: "down" },
    { kind: "wait", delayMs: 60_000 },
  ]);
});
