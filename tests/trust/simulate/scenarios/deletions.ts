import { lines, type Stage } from "../stage.ts";
import { isDeletion } from "../standing.ts";
import type { Scenario } from "./scenario.ts";

const KEY = "alpha";

/** Both machines have the memory, and the second one is out of reach. */
function begin(stage: Stage): void {
  stage.begin(lines("one"));
  stage.remember(1, KEY);
  stage.pass();
  stage.cutOff(2);
}

/** Expects that on both machines this value stands, and how many deletions are told beside it. */
function expectStanding(stage: Stage, value: string | undefined, deletions: number): void {
  for (const number of [1, 2]) {
    const standing = stage.standingOf(number, KEY);
    const values = standing.filter((each) => !isDeletion(each));
    stage.expect(`the memory on m${number}`, values, value === undefined ? [] : [value]);
    stage.expect(`what m${number} tells`, standing.length - values.length, deletions);
  }
}

/** Expects that each machine shows one move that somebody else did not make. */
function expectMoveTold(stage: Stage): void {
  for (const number of [1, 2]) stage.expect(`moves of m${number}`, stage.movesTold(number), [KEY]);
}

/** Deletions of memories, and writes that had not seen them. */
export const DELETIONS: readonly Scenario[] = [
  {
    name: "a deletion that an earlier write undoes is told on both machines",
    play(stage) {
      begin(stage);
      const value = stage.remember(1, KEY);
      stage.pass();
      stage.forget(2, KEY);
      stage.connect(2);
      expectStanding(stage, value, 1);
    },
  },
  {
    name: "a deletion that a later write undoes is told on both machines",
    play(stage) {
      begin(stage);
      stage.forget(1, KEY);
      stage.pass();
      const value = stage.remember(2, KEY);
      stage.connect(2);
      expectStanding(stage, value, 1);
    },
  },
  {
    name: "whoever has seen both settles what a deletion and a write have left",
    play(stage) {
      begin(stage);
      stage.forget(1, KEY);
      stage.pass();
      stage.remember(2, KEY);
      stage.connect(2);
      const settled = stage.remember(1, KEY);
      stage.pass();
      expectStanding(stage, settled, 0);
      stage.forget(2, KEY);
      stage.pass();
      expectStanding(stage, undefined, 1);
    },
  },
  {
    name: "a memory that is written again after its deletion is no conflict",
    play(stage) {
      begin(stage);
      stage.connect(2);
      stage.forget(1, KEY);
      stage.pass();
      const value = stage.remember(2, KEY);
      stage.pass();
      expectStanding(stage, value, 0);
    },
  },
  {
    name: "a memory that one machine moves while another deletes it is told on both",
    play(stage) {
      begin(stage);
      stage.forget(1, KEY);
      stage.pass();
      stage.stop(2);
      stage.move(2, KEY, "user");
      stage.start(2);
      stage.connect(2);
      expectStanding(stage, undefined, 2);
      expectMoveTold(stage);
    },
  },
  {
    name: "a memory that two machines move to two layers is told on both",
    play(stage) {
      begin(stage);
      stage.stop(2);
      stage.move(2, KEY, "user");
      stage.stop(1);
      stage.move(1, KEY, "global");
      stage.start(1);
      stage.start(2);
      stage.connect(2);
      expectStanding(stage, undefined, 2);
      expectMoveTold(stage);
    },
  },
];
