import { lines, type Stage } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

/** Long enough for the network's calls, shorter than what is looked at late. */
const MOMENT_MS = 400;
const POWER_CUTS = 6;

/** The first machine's process ends once it has written its file, before it notes that. */
function endWhenWritten(stage: Stage): void {
  const { cluster } = stage;
  const machine = stage.machine(1);
  cluster.onFileWritten = (each) => {
    if (each !== machine) return;
    cluster.onFileWritten = undefined;
    machine.process?.end();
  };
}

/** What becomes of files that are written, exchanged and cut off in the middle. */
export const FILES: readonly Scenario[] = [
  {
    name: "a crash between a file's renaming and its note loses and doubles nothing",
    play(stage) {
      stage.begin(lines("one", "two"));
      endWhenWritten(stage);
      stage.save(2, lines("one", "two", "three"));
      stage.pass();
      stage.kill(1);
      stage.save(2, lines("one", "two"));
      stage.pass(70_000);
      stage.save(2, lines("one", "two", "four"));
      stage.pass();
      stage.start(1);
      stage.pass(10_000);
      stage.expect("the text", stage.textOf(2), lines("one", "two", "four"));
      stage.expect("how often it was saved", stage.countSaves(1, lines("one", "two", "three")), 0);
    },
  },
  {
    name: "what somebody deletes after a crash between a file's renaming and its note is told",
    play(stage) {
      stage.begin(lines("one", "two"));
      endWhenWritten(stage);
      stage.save(2, lines("one", "two", "three (m2 1)"));
      stage.pass();
      stage.kill(1);
      stage.save(1, lines("one", "two"));
      stage.start(1);
      stage.pass(10_000);
      stage.expect("the line is there", stage.textOf(2).includes("three"), true);
      stage.expect("it is told", stage.conflictsOf(2).includes("three"), true);
    },
  },
  {
    name: "a power cut at a file's renaming leaves the text of before or the new one, whole",
    play(stage) {
      const whole = [lines("one")];
      stage.begin(lines("one"));
      // What a power cut takes away is drawn: each time something else.
      for (let cut = 1; cut <= POWER_CUTS; cut++) {
        const text = `${whole.at(-1)}${cut}\n`;
        whole.push(text);
        endWhenWritten(stage);
        stage.save(2, text);
        stage.pass();
        stage.kill(1, true);
        stage.expect(`it is whole after cut ${cut}`, whole.includes(stage.fileOf(1)), true);
        stage.start(1);
        stage.pass();
        stage.expect(`the file after cut ${cut}`, stage.fileOf(1), text);
      }
      stage.expect("the other's file", stage.fileOf(2), whole.at(-1));
    },
  },
  {
    name: "what a program writes into a file that has lost its name is taken at the end, too",
    play(stage) {
      stage.begin(lines("one", "two"));
      const write = stage.open(1);
      stage.save(2, lines("one", "two", "hers"));
      stage.pass(30_000);
      write(lines("one", "two", "late"));
      stage.stop(1);
      stage.start(1);
      stage.pass(MOMENT_MS);
    },
  },
  {
    name: "a secret in a file stays out of its document until it is taken out",
    play(stage) {
      stage.begin(lines("one"));
      stage.save(1, lines("one", stage.cluster.phrases.secret, "beside it"));
      stage.pass();
      stage.expect("the text", stage.textOf(1), lines("one"));
      stage.save(1, lines("one", "beside it"));
      stage.pass();
      stage.expect("the other's file", stage.fileOf(2), lines("one", "beside it"));
    },
  },
  {
    name: "a deletion alone goes to the others",
    cast: { services: 2 },
    play(stage) {
      stage.begin(lines("one"));
      stage.label(1, "alpha", "one");
      stage.pass();
      stage.cutOff(2);
      stage.label(1, "alpha", null);
      stage.pass();
      // At another service it is the first contact, at which whole states are compared.
      stage.bindAnew();
      stage.connect(2);
      stage.expect("how much metadata the other has", stage.countLabels(2), 0);
    },
  },
  {
    name: "lines that differ by their indentation are no doubles",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.cutOff(1);
      stage.cutOff(2);
      stage.save(1, lines("one", "two", "- a thing", "- another thing"));
      stage.save(2, lines("one", "two", "  - a thing", "  - another thing"));
      stage.pass();
      stage.connect(1);
      stage.connect(2);
    },
  },
];
