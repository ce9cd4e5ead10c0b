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
  {
    name: "a line that two wrote apart stands once",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(MINUTE_MS);
      for (const number of [1, 2]) {
        stage.cutOff(number);
        stage.save(number, lines("one", "two", "both"));
      }
      stage.pass();
      stage.connect(1);
      stage.connect(2);
      stage.pass(MINUTE_MS);
      stage.expect("the text", stage.textOf(1), lines("one", "two", "both"));
      stage.expect("the other's text", stage.textOf(2), lines("one", "two", "both"));
    },
  },
  {
    name: "a line deleted in a block that another moves stays, and that is told",
    play(stage) {
      const rest = ["one", "two", "three", "four", "five"];
      stage.begin(lines("block (m1 1)", "line (m1 2)", ...rest));
      stage.pass(MINUTE_MS);
      stage.cutOff(2);
      stage.save(1, lines(...rest, "block (m1 1)", "line (m1 2)"));
      stage.save(2, lines("block (m1 1)", ...rest));
      stage.pass();
      stage.connect(2);
      stage.pass(MINUTE_MS);
      stage.expect("the line is there", stage.textOf(1).includes("line (m1 2)"), true);
      stage.expect("it is told", stage.conflictsOf(1).includes("line (m1 2)"), true);
    },
  },
  {
    name: "of two sections that change places each keeps its fences",
    play(stage) {
      const [js, go] = [
        ["## JS", "", "```", "npm i", "npm t", "```", ""],
        ["## Go", "", "```", "go build", "go vet", "```", ""],
      ] as const;
      stage.begin(lines(...js, ...go, "the end"));
      stage.pass(MINUTE_MS);
      stage.cutOff(2);
      stage.save(1, lines(...go, ...js, "the end"));
      stage.save(2, lines(...go, "the end"));
      stage.pass();
      stage.connect(2);
      stage.pass(MINUTE_MS);
      stage.expect("the section", stage.textOf(1).includes(lines(...go)), true);
    },
  },
];
