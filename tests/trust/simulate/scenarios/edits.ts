import { lines } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

const MINUTE_MS = 61_000;

/** What becomes of saves. */
export const EDITS: readonly Scenario[] = [
  {
    name: "what one saves the other has",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(1, lines("one", "two", "three"));
      stage.pass();
      stage.expect("the other's file", stage.fileOf(2), lines("one", "two", "three"));
    },
  },
  {
    name: "after the minute a save takes away what it does not have",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(MINUTE_MS + 10_000);
      stage.save(1, lines("one", "two"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
    },
  },
];
