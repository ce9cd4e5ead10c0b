import { lines } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

/** What a save that has not seen others' change of the last minute does, and does not. */
export const UNSEEN: readonly Scenario[] = [
  {
    name: "lines that others brought a moment ago stay, and that is told",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers (m2 1)"));
      stage.pass(20_000);
      stage.save(1, lines("one", "two", "his (m1 1)"));
      stage.pass();
      const text = stage.textOf(2);
      stage.expect("both lines", text.includes("hers") && text.includes("his"), true);
      stage.expect("what is told", stage.conflictsOf(2).includes("hers"), true);
    },
  },
  {
    name: "a second save that leaves them out still does not renew their minute",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(40_000);
      stage.save(1, lines("one", "two", "his"));
      stage.pass(35_000);
      stage.save(1, lines("one", "two", "his"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines("one", "two", "his"));
    },
  },
  {
    name: "lines that others took away a moment ago come back, and that is told",
    play(stage) {
      stage.begin(lines("one", "gone and back (m1 1)", "two"));
      stage.pass(70_000);
      stage.save(2, lines("one", "two"));
      stage.pass(20_000);
      stage.save(1, lines("one", "gone and back (m1 1)", "two", "his"));
      stage.pass();
      stage.expect("the line is back", stage.textOf(2).includes("gone and back"), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("gone and back"), true);
    },
  },
  {
    name: "others' new lines that a save has elsewhere are moved, and stand once",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(20_000);
      stage.save(1, lines("hers", "one", "two"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines("hers", "one", "two"));
    },
  },
  {
    name: "a line that was moved is still as new as it was",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(10_000);
      stage.save(1, lines("hers", "one", "two"));
      stage.pass(10_000);
      stage.save(1, lines("one", "two", "his"));
      stage.pass();
      stage.expect("hers is there", stage.textOf(2).includes("hers"), true);
    },
  },
  {
    name: "lines that others moved a moment ago stay where those put them",
    play(stage) {
      stage.begin(lines("one", "two", "three", "four"));
      stage.save(2, lines("one", "three", "four", "two"));
      stage.pass(20_000);
      stage.save(1, lines("one", "two", "three", "four", "his"));
      stage.pass();
      const found = stage
        .textOf(2)
        .split("\n")
        .filter((line) => line === "two").length;
      stage.expect("how often the line stands there", found, 1);
      stage.expect("it stands behind", stage.textOf(2).startsWith(lines("one", "three")), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("two"), true);
    },
  },
  {
    name: "what came before a restart is as new as it was",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(10_000);
      stage.stop(1);
      stage.start(1);
      stage.pass();
      stage.save(1, lines("one", "two", "his"));
      stage.pass();
      stage.expect("hers is there", stage.textOf(2).includes("hers"), true);
    },
  },
  {
    name: "what the first of two saves left out while no daemon ran stays, and that is told",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(10_000);
      stage.stop(1);
      stage.save(1, lines("his", "one", "two"));
      stage.pass(90_000);
      stage.save(1, lines("his", "his too", "one", "two"));
      stage.start(1);
      stage.pass();
      stage.expect("hers is there", stage.textOf(2).includes("hers"), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("hers"), true);
    },
  },
  {
    name: "setting the clock makes nothing older",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(10_000);
      stage.machine(1).clock.jump(2 * 60 * 60_000);
      stage.save(2, lines("one", "two", "hers", "hers too"));
      stage.pass(10_000);
      stage.save(1, lines("one", "two", "his"));
      stage.pass();
      stage.expect("hers is there", stage.textOf(2).includes("hers"), true);
    },
  },
  {
    name: "line endings that others changed a moment ago go back, and that is told",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two").replaceAll("\n", "\r\n"));
      stage.pass(20_000);
      stage.save(1, lines("one", "two", "his"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines("one", "two", "his"));
      stage.expect("it is told", stage.conflictsOf(2) !== "", true);
    },
  },
  {
    name: "a text of mixed line endings gets one kind a moment after others' change",
    play(stage) {
      stage.begin("one\r\ntwo\nthree\r\n");
      stage.save(2, "one\r\nhers\r\ntwo\nthree\r\n");
      stage.pass(20_000);
      stage.save(1, lines("one", "hers", "two", "three").replaceAll("\n", "\r\n"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), "one\r\nhers\r\ntwo\r\nthree\r\n");
      stage.expect("nothing is told", stage.conflictsOf(2), "");
    },
  },
];
