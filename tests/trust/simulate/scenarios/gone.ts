import { lines } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

const GRACE_MS = 15_000;
const MINUTE_MS = 60_000;
const MANY = Array.from({ length: 14 }, (_, at) => `line ${at}`);

/** Files that are removed, emptied and made anew, and texts that lose most of their lines. */
export const GONE: readonly Scenario[] = [
  {
    name: "a missing file deletes nothing",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.remove(1);
      stage.pass(GRACE_MS * 2);
      stage.expect("the other's file", stage.fileOf(2), lines("one", "two"));
      stage.expect("the text", stage.textOf(1), lines("one", "two"));
    },
  },
  {
    name: "a file that is empty for a moment deletes nothing",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(1, "", "in place");
      stage.pass(3000);
      stage.expect("the other's file", stage.fileOf(2), lines("one", "two"));
      stage.save(1, lines("one", "two", "three"), "in place");
      stage.pass();
      stage.expect("the other's file", stage.fileOf(2), lines("one", "two", "three"));
    },
  },
  {
    name: "a file that stays empty deletes its text",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass();
      stage.save(1, "", "in place");
      stage.pass(GRACE_MS);
      stage.expect("the text", stage.textOf(2), "");
    },
  },
  {
    name: "a file that git has emptied deletes nothing",
    cast: { git: "tracked", write: false },
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass();
      stage.stop(2);
      stage.save(2, "");
      stage.wait(stage.git(2).commit("empty"));
      stage.git(2).push();
      stage.wait(stage.git(1).pull());
      stage.pass(GRACE_MS * 2);
      stage.expect("the text", stage.textOf(1), lines("one", "two"));
      stage.start(2);
      stage.pass(GRACE_MS * 2);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
    },
  },
  {
    name: "a file that is made anew after it was gone takes nothing away, and that is told",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.remove(1);
      stage.pass(GRACE_MS * 2);
      stage.save(1, lines("anew"));
      stage.pass();
      for (const line of ["one", "two", "anew"]) {
        stage.expect(`"${line}" is there`, stage.textOf(2).split("\n").includes(line), true);
      }
      stage.expect("it is told", stage.conflictsOf(2).includes("two"), true);
    },
  },
  {
    name: "an old copy in the place of a file that was gone undoes no deletion untold",
    play(stage) {
      stage.begin(lines("one", "two", "three"));
      stage.pass(MINUTE_MS * 2);
      stage.save(2, lines("one", "three"));
      stage.pass(MINUTE_MS * 2);
      stage.expect("the other's file", stage.fileOf(1), lines("one", "three"));
      stage.remove(1);
      stage.pass(GRACE_MS * 2);
      stage.save(1, lines("one", "two", "three"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines("one", "two", "three"));
      stage.expect("it is told", stage.conflictsOf(2).includes("two"), true);
    },
  },
  {
    name: "an old copy over a file undoes nothing of others untold",
    play(stage) {
      stage.begin(lines("one", "two", "three", "four"));
      stage.pass(MINUTE_MS * 2);
      stage.save(2, lines("one", "three", "four, by two"));
      stage.pass(MINUTE_MS * 2);
      stage.expect("the other's file", stage.fileOf(1), lines("one", "three", "four, by two"));
      stage.save(1, lines("one", "two", "three", "four"), "in place");
      stage.pass();
      const text = stage.textOf(2).split("\n");
      stage.expect("what others wrote stays", text.includes("four, by two"), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("four, by two"), true);
      stage.expect("so is what they deleted", stage.conflictsOf(2).includes("two"), true);
    },
  },
  {
    name: "who takes out what others wrote at one place means it",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(MINUTE_MS * 2);
      stage.save(2, lines("one", "by two", "two"));
      stage.pass(MINUTE_MS * 2);
      stage.save(1, lines("one", "two"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
    },
  },
  {
    name: "a file that was gone for a moment is edited from what it had",
    play(stage) {
      stage.begin(lines("one", "two", "three"));
      stage.pass();
      stage.remove(1);
      stage.pass(2000);
      stage.save(1, lines("one", "three"));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines("one", "three"));
    },
  },
  {
    name: "the deletion of most of a text is told on every machine",
    play(stage) {
      stage.begin(lines(...MANY));
      stage.pass();
      stage.save(1, lines(...MANY.slice(0, 2)));
      stage.pass();
      stage.expect("the text", stage.textOf(2), lines(...MANY.slice(0, 2)));
      stage.expect("it is told", stage.conflictsOf(2).includes("line 9"), true);
    },
  },
];
