import { expect, test } from "bun:test";
import {
  CALL_PHASES,
  type CallEffect,
  type CallEvent,
  type CallPhase,
  type CallState,
  NO_CALL,
  stepCall,
} from "../../daemon/sync/call-machine.ts";
import { readTransitions } from "../support/transition-table.ts";

const POSITION = { epoch: "e".repeat(22), seq: 1 };
const OWN = { unit: "own", name: "global", position: POSITION, by: "changed" } as const;
const CLOCKS = { now: 100, wall: 5000 };

/** The table's headings: what the schedule answers is an event of its own each. */
const EVENTS: Readonly<Record<string, CallEvent>> = {
  call: { kind: "next", step: { kind: "call", unit: "own", urgency: "change" }, ...CLOCKS },
  wait: { kind: "next", step: { kind: "wait", until: 700, throttled: false }, ...CLOCKS },
  idle: { kind: "next", step: { kind: "idle" }, ...CLOCKS },
  began: { kind: "began", units: ["own"] },
  announced: { kind: "announced", announced: OWN },
  ended: { kind: "ended" },
  looked: { kind: "looked" },
  stop: { kind: "stop" },
};

/** A phase without a call and, where one may be under way, with one that heard of something. */
function statesIn(phase: CallPhase): CallState[] {
  const plain = { ...NO_CALL, phase };
  if (phase !== "calling" && phase !== "stopped") return [plain];
  return [plain, { ...plain, units: ["own"] }, { ...plain, units: ["own"], announced: [OWN] }];
}

/** All that an event may bring about in any phase. */
function allSteps() {
  return CALL_PHASES.flatMap((phase) =>
    Object.entries(EVENTS).flatMap(([name, event]) =>
      statesIn(phase).map((before) => ({ phase, name, before, ...stepCall(before, event) })),
    ),
  );
}

function kindsOf(effects: readonly CallEffect[]): CallEffect["kind"][] {
  return effects.map(({ kind }) => kind);
}

test("each event leads a call where the table of the document says", async () => {
  const found = new Map<string, string[]>();
  for (const { phase, name, state } of allSteps()) {
    const key = `${phase} ${name}`;
    found.set(key, [...new Set([...(found.get(key) ?? []), state.phase])].sort());
  }
  const table = await readTransitions("docs/design/sync.md", "calls");
  const shown = [...found].map(([key, phases]) => [key, phases.join(" or ")] as const);
  expect(shown.sort()).toEqual([...table].sort());
});

test("a call begins only where none is under way, and never once the engine is stopped", () => {
  for (const { phase, name, effects } of allSteps()) {
    const mayBegin = name === "call" && (phase === "resting" || phase === "waiting");
    expect([phase, name, kindsOf(effects).includes("call")]).toEqual([phase, name, mayBegin]);
  }
});

test("a timer runs only while something waits for its time", () => {
  for (const { phase, name, state, effects } of allSteps()) {
    const kinds = kindsOf(effects);
    const sets = state.phase === "waiting" && name === "wait";
    expect([phase, name, kinds.includes("wait")]).toEqual([phase, name, sets]);
    const ends = phase === "waiting" && state.phase !== "waiting";
    if (ends) expect([phase, name, kinds.includes("rest")]).toEqual([phase, name, true]);
  }
});

test("whoever waits for the calls is released once nothing goes now", () => {
  for (const { phase, name, effects } of allSteps()) {
    const isFree = phase === "resting" || phase === "waiting";
    const isOver = isFree && (name === "wait" || name === "idle");
    expect([phase, name, kindsOf(effects).includes("release")]).toEqual([phase, name, isOver]);
  }
});

test("what is announced during a call about it is looked at after it, even after a stop", () => {
  const begun = stepCall({ ...NO_CALL, phase: "calling" }, EVENTS.began as CallEvent).state;
  const told = stepCall(begun, EVENTS.announced as CallEvent);
  expect(told.effects).toEqual([]);
  expect(stepCall(told.state, { kind: "ended" }).effects).toEqual([
    { kind: "look", announced: [OWN] },
  ]);
  const stopped = stepCall(told.state, { kind: "stop" }).state;
  expect(stepCall(stopped, { kind: "ended" }).effects).toEqual([
    { kind: "look", announced: [OWN] },
  ]);
});

test("what is announced about another unit is due at once", () => {
  const other = { ...OWN, unit: "proj_a" } as never;
  const begun = stepCall({ ...NO_CALL, phase: "calling" }, EVENTS.began as CallEvent).state;
  expect(stepCall(begun, { kind: "announced", announced: other }).effects).toEqual([
    { kind: "due", announced: other },
  ]);
});

test("calls that the budget holds back are told with the time since when they wait", () => {
  const held = (now: number, wall: number): CallEvent => {
    return { kind: "next", step: { kind: "wait", until: 700, throttled: true }, now, wall };
  };
  const first = stepCall(NO_CALL, held(100, 5000)).state;
  expect(first.throttled).toEqual({ since: 5000, until: 5600 });
  const later = stepCall(first, held(300, 5200)).state;
  expect(later.throttled).toEqual({ since: 5000, until: 5600 });
  expect(stepCall(later, EVENTS.wait as CallEvent).state.throttled).toBeUndefined();
});
