import { lines, type Stage } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

/** More than a log keeps here. */
const MANY = 30;

/** Writes memories one after another, so that each is a row of its own. */
function writeMany(stage: Stage, number: number, name: string): void {
  for (let at = 0; at < MANY; at++) stage.remember(number, `${name} ${at}`);
}

/** What becomes of rows that a log has dropped, or may not drop. */
export const LOGS: readonly Scenario[] = [
  {
    name: "whoever lags behind a shortened log gets the whole document",
    cast: { machines: 3 },
    play(stage) {
      stage.begin(lines("one"));
      stage.stop(3);
      writeMany(stage, 1, "early");
      stage.pass();
      writeMany(stage, 2, "late");
      stage.pass();
      stage.start(3);
      stage.pass();
      stage.expect("what the third has", keysOn(stage, 3), 2 * MANY);
    },
  },
  {
    name: "rows that no service has acknowledged are not dropped",
    play(stage) {
      stage.begin(lines("one"));
      stage.cutOff(1);
      writeMany(stage, 1, "cut off");
      const { running } = stage.machine(1);
      if (running) stage.wait(running.store.sweep());
      stage.connect(1);
      stage.expect("what the second has", keysOn(stage, 2), MANY);
    },
  },
];

function keysOn(stage: Stage, number: number): number {
  const document = stage.machine(number).shadow.documents.get(stage.project);
  return [...(document?.memories.keys() ?? [])].length;
}
