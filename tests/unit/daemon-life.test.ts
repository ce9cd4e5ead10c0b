import { expect, test } from "bun:test";
import {
  LIFE_BEGUN,
  LIFE_PHASES,
  type LifeEvent,
  type LifeState,
  stepLife,
} from "../../daemon/supervise/daemon-life.ts";
import { readTransitions } from "../support/transition-table.ts";

const EVENTS: readonly LifeEvent[] = ["started", "damaged", "ended", "failed", "stop"];
const REBUILDS = [0, 1, 3];

function after(...events: readonly LifeEvent[]): LifeState {
  return events.reduce((state, event) => stepLife(state, event).state, LIFE_BEGUN);
}

test("each event leads the daemon's life where the table of the document says", async () => {
  const found: (readonly [string, string])[] = LIFE_PHASES.flatMap((phase) =>
    EVENTS.map((event) => {
      const phases = REBUILDS.map((rebuilds) => stepLife({ phase, rebuilds }, event).state.phase);
      return [`${phase} ${event}`, [...new Set(phases)].sort().join(" or ")] as const;
    }),
  );
  const table = await readTransitions("docs/design/supervision.md", "life");
  expect([...found].sort()).toEqual([...table].sort());
});

test("a daemon starts only after the one before it has ended, and never once it is stopped", () => {
  for (const phase of LIFE_PHASES) {
    for (const event of EVENTS) {
      const { effect } = stepLife({ phase, rebuilds: 0 }, event);
      const starts = phase === "ending" && event === "ended";
      expect([phase, event, effect === "start"]).toEqual([phase, event, starts]);
    }
  }
});

test("a database that is damaged for the fourth time is not rebuilt", () => {
  const once: readonly LifeEvent[] = ["started", "damaged", "ended"];
  const thrice = after(...once, ...once, ...once, "started");
  expect(thrice).toEqual({ phase: "running", rebuilds: 3 });
  expect(stepLife(thrice, "damaged")).toEqual({
    state: { phase: "failed", rebuilds: 3 },
    effect: "give-up",
  });
});

test("a daemon's owner is told once that it can't go on, and not after a stop", () => {
  const failed = stepLife(after("started", "damaged"), "failed");
  expect(failed.effect).toBe("give-up");
  expect(stepLife(failed.state, "failed").effect).toBeUndefined();
  expect(stepLife(failed.state, "damaged").effect).toBeUndefined();
  expect(stepLife(after("started", "stop"), "failed").effect).toBeUndefined();
});
