import { BEFORE } from "../git/clone.ts";
import { MAIN } from "../git/git-user.ts";
import { lines, type Stage } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

/** Longer than a tracked file has to stand still. */
const QUIET_MS = 12_000;
/** Longer than what git has brought is new to anybody. */
const SEEN_MS = 130_000;
const TRACKED = { git: "tracked", write: false } as const;

/** Somebody saves and commits while no daemon runs there, and pushes it. */
function publish(stage: Stage, number: number, text: string): void {
  stage.stop(number);
  stage.save(number, text);
  stage.wait(stage.git(number).commit("published"));
  stage.git(number).push();
}

function pull(stage: Stage, number: number): void {
  stage.wait(stage.git(number).pull());
  stage.pass(QUIET_MS);
}

function parentOf({ head, objects }: ReturnType<typeof repositoryOf>): string {
  return objects.get(head.commit ?? "").parents[0] ?? "";
}

function repositoryOf(stage: Stage, number: number) {
  return stage.git(number).repository;
}

/** With no service the first machine deletes what it pulled of the second; then one calls first. */
function deletedAfterPull(name: string, first: 1 | 2): Scenario {
  return {
    name,
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.cutOff(1);
      stage.cutOff(2);
      stage.save(2, lines("one", "two", "both (m2 1)"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(2).commit("both"));
      stage.git(2).push();
      pull(stage, 1);
      stage.pass(SEEN_MS);
      stage.save(1, lines("one", "two"));
      stage.pass(QUIET_MS);
      for (const number of first === 1 ? [1, 2] : [2, 1]) stage.connect(number);
      stage.pass(QUIET_MS);
      stage.expect("it is told here", stage.conflictsOf(1).includes("both"), true);
      stage.expect("it is told there", stage.conflictsOf(2).includes("both"), true);
    },
  };
}

/** What git's branches and commits mean for a tracked file. */
export const COMMITS: readonly Scenario[] = [
  {
    name: "what a later commit brings and takes away is an edit",
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two", "three"));
      stage.pass(QUIET_MS);
      publish(stage, 2, lines("one", "three", "four"));
      pull(stage, 1);
      stage.expect("the text", stage.textOf(1), lines("one", "three", "four"));
      stage.start(2);
    },
  },
  {
    name: "an earlier commit changes nothing, and is what the next edit counts from",
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.save(1, lines("one", "two", "three"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(1).commit("third"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(1).resetHard(parentOf(repositoryOf(stage, 1))));
      stage.pass(QUIET_MS);
      stage.expect("the text", stage.textOf(2), lines("one", "two", "three"));
      stage.save(1, lines("one", "two", "next"));
      stage.pass(QUIET_MS);
      stage.expect("three is there", stage.textOf(2).includes("three"), true);
      stage.expect("next is there", stage.textOf(2).includes("next"), true);
    },
  },
  {
    name: "a commit of another line of work changes nothing",
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two", "three"));
      stage.pass(QUIET_MS);
      publish(stage, 2, lines("one", "three"));
      stage.save(1, lines("one", "two", "three", "own"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(1).commit("own"));
      stage.pass(QUIET_MS);
      stage.git(1).fetch();
      stage.wait(stage.git(1).resetHard(repositoryOf(stage, 2).head.commit ?? ""));
      stage.pass(QUIET_MS);
      stage.expect("the text", stage.textOf(1), lines("one", "two", "three", "own"));
      stage.start(2);
    },
  },
  {
    name: "what one machine has read of a commit another does not bring back",
    cast: { ...TRACKED, machines: 3 },
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      publish(stage, 3, lines("one", "two", "brought"));
      pull(stage, 1);
      stage.expect("the text", stage.textOf(2), lines("one", "two", "brought"));
      stage.pass(SEEN_MS);
      stage.save(1, lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
      pull(stage, 2);
      stage.expect("the text after the pull", stage.textOf(1), lines("one", "two"));
      stage.start(3);
      stage.pass(QUIET_MS);
    },
  },
  {
    name: "what a pull brought a moment ago stays, and that is told",
    cast: { ...TRACKED, machines: 3 },
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      publish(stage, 3, lines("one", "two", "brought (m3 1)"));
      pull(stage, 1);
      stage.save(1, lines("his (m1 1)", "one", "two"));
      stage.pass(QUIET_MS);
      stage.expect("the line is there", stage.textOf(2).includes("brought"), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("brought"), true);
      stage.start(3);
      stage.pass(QUIET_MS);
    },
  },
  {
    name: "a minute after a pull a save takes away what it brought",
    cast: { ...TRACKED, machines: 3 },
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      publish(stage, 3, lines("one", "two", "brought (m3 1)"));
      pull(stage, 1);
      stage.pass(SEEN_MS);
      stage.save(1, lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
      stage.expect("nothing is told", stage.conflictsOf(2), "");
      stage.start(3);
      stage.pass(QUIET_MS);
    },
  },
  {
    name: "what a pull brought stays though its commit is amended, and that is told",
    cast: { ...TRACKED, machines: 3 },
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      publish(stage, 3, lines("one", "two", "brought (m3 1)"));
      stage.wait(stage.git(1).pull());
      stage.wait(stage.git(1).amend());
      stage.pass(QUIET_MS);
      stage.save(1, lines("his (m1 1)", "one", "two"));
      stage.pass(QUIET_MS);
      stage.expect("the line is there", stage.textOf(2).includes("brought"), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("brought"), true);
      stage.start(3);
      stage.pass(QUIET_MS);
    },
  },
  {
    name: "what a pull brought stays though a text of before is committed, and that is told",
    cast: { ...TRACKED, machines: 3 },
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      publish(stage, 3, lines("one", "two", "brought (m3 1)"));
      stage.stop(1);
      stage.wait(stage.git(1).pull());
      stage.save(1, lines("his (m1 1)", "one", "two"));
      stage.wait(stage.git(1).commit("his"));
      stage.start(1);
      stage.pass(QUIET_MS);
      stage.expect("the line is there", stage.textOf(2).includes("brought"), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("brought"), true);
      stage.start(3);
      stage.pass(QUIET_MS);
    },
  },
  deletedAfterPull("what one machine pulled with no service and deleted is told", 2),
  // Of what is gone the service keeps no text.
  deletedAfterPull("what one machine pulled, deleted and sent before the other is told", 1),
  {
    name: "another branch's text is not the project's",
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(1).checkout("topic", true));
      stage.pass(QUIET_MS);
      stage.save(1, lines("one", "of the topic"));
      stage.pass(QUIET_MS);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
      stage.wait(stage.git(1).commit("topic"));
      stage.wait(stage.git(1).checkout(MAIN));
      stage.pass(QUIET_MS);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
      stage.wait(stage.git(1).merge("topic"));
      stage.pass(QUIET_MS);
      stage.expect("the text once it is merged", stage.textOf(2), lines("one", "of the topic"));
    },
  },
  {
    name: "a branch without the file deletes nothing",
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(1).checkout(BEFORE));
      stage.pass(QUIET_MS * 2);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
      stage.wait(stage.git(1).checkout(MAIN));
      stage.pass(QUIET_MS);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
    },
  },
  {
    name: "a file in the middle of a checkout is nobody's save",
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(1).checkout("topic", true));
      stage.save(1, lines("of the topic", "two"));
      stage.wait(stage.git(1).commit("topic"));
      stage.wait(stage.git(1).checkout(MAIN));
      stage.pass(QUIET_MS);
      stage.cluster.clones.stepMs = 700;
      stage.begun(stage.git(1).checkout("topic"));
      stage.pass(QUIET_MS * 2);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
    },
  },
  {
    name: "a file is left alone for as long as git works",
    cast: TRACKED,
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass(QUIET_MS);
      stage.wait(stage.git(1).checkout("topic", true));
      stage.save(1, lines("of the topic", "two"));
      stage.wait(stage.git(1).commit("topic"));
      stage.wait(stage.git(1).checkout(MAIN));
      stage.pass(QUIET_MS);
      stage.cluster.clones.stepMs = 20_000;
      stage.begun(stage.git(1).checkout("topic"));
      stage.pass(50_000);
      stage.expect("the text", stage.textOf(2), lines("one", "two"));
      stage.pass(60_000);
      stage.cluster.clones.stepMs = undefined;
    },
  },
];
