import { lines, type Stage } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

/** More than a log keeps here. */
const MANY = 30;
/** A unit is not called about twice sooner. */
const CALL_MS = 1200;

/** Sets metadata one after another, so that each is a row of its own. */
function labelMany(stage: Stage, number: number): void {
  for (let at = 0; at < MANY; at++) stage.label(number, `key ${at}`, "value");
}

/**
 * Removes them the same way: rows of which none builds on another. (What deletes a memory or text
 * leaves an entry that says so.)
 */
function unlabelMany(stage: Stage, number: number): void {
  for (let at = 0; at < MANY; at++) {
    stage.label(number, `key ${at}`, null);
    // Each goes to the service by itself, too.
    stage.pass(CALL_MS);
  }
}

const TEXT = lines("# Rules", "", "one", "moved", "two", "three");
/** What one saves is no longer measured by what came before. */
const LATER_MS = 66_000;
const DELETED = lines("# Rules", "", "one", "two", "three");
const MOVED = lines("# Rules", "", "one", "two", "three", "moved");

/** The first has deleted a line that the second has put elsewhere meanwhile. */
function expectTold(stage: Stage): void {
  for (const number of [1, 2]) {
    stage.expect("whether it is told", stage.conflictsOf(number).includes("moved"), true);
  }
}

/** What becomes of rows that a log has dropped, or may not drop. */
export const LOGS: readonly Scenario[] = [
  {
    name: "whoever lags behind a shortened log gets the whole document",
    cast: { machines: 3 },
    play(stage) {
      stage.begin(lines("one"));
      labelMany(stage, 1);
      stage.pass();
      stage.stop(3);
      unlabelMany(stage, 1);
      stage.pass();
      stage.start(3);
      stage.pass();
      stage.expect("how much metadata the third has", stage.countLabels(3), 0);
    },
  },
  {
    name: "rows that no service has acknowledged are not dropped",
    play(stage) {
      stage.begin(lines("one"));
      labelMany(stage, 1);
      stage.pass();
      stage.cutOff(1);
      unlabelMany(stage, 1);
      const { running } = stage.machine(1);
      if (running) stage.wait(running.store.sweep());
      stage.connect(1);
      stage.expect("how much metadata the second has", stage.countLabels(2), 0);
    },
  },
  {
    name: "who gets the whole document tells of a line that it moved and another one deleted",
    play(stage) {
      stage.begin(TEXT);
      stage.pass(LATER_MS);
      stage.cutOff(2);
      stage.save(2, MOVED);
      stage.save(1, DELETED);
      stage.pass();
      for (let at = 0; at < MANY; at++) {
        stage.remember(1, "one after another");
        stage.pass(CALL_MS);
      }
      stage.connect(2);
      expectTold(stage);
    },
  },
];
