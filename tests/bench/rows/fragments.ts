import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as Y from "yjs";
import { type Arrival, changeBetween } from "../../../daemon/files/arrivals/arrivals.ts";
import type { FileState } from "../../../daemon/files/lines/file-state.ts";
import { planSave } from "../../../daemon/files/saves/plan-save.ts";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { FollowedMachine } from "../../support/followed-machines.ts";
import { createGitSandbox } from "../../support/git-sandbox.ts";
import { seededRandom } from "../../support/random.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { median, ms, times, whole } from "../sample.ts";

const LINES = 20_000;
const FRAGMENTS = 10_000;
const AUTHORS = 4;
const REPEATS = 5;
const RATIO_MAX = 3;
const NOW = 1_750_000_000_000;

/** A followed text that four machines have written in 10,000 pieces, beside one half as large. */
export const fragments: Row = {
  name: "fragments",
  async run(bench) {
    const [text, smaller] = [brokenText(1), brokenText(1 / 2)];
    const half = { ...pureTimes(smaller), ...(await lookTimes(bench, smaller)) };
    const all = { ...pureTimes(text), ...(await lookTimes(bench, text)) };
    const size = Math.round(text.content().length / 1000);
    const pieces = text.captureText().spans.length;
    return {
      figures: Object.keys(all).map((what) => figureOf(what, all[what] ?? 0, half[what] ?? 1)),
      notes: [`A text of ${size} KB, ${whole(LINES)} lines, in ${whole(pieces)} pieces.`],
    };
  },
};

/** Milliseconds by what was measured. */
type Times = Record<string, number>;

function figureOf(what: string, all: number, half: number): Figure {
  return {
    figure: `${what}: p50 ${ms(all)}, ${times(all / half)} that of half the text`,
    target: `≤ ${RATIO_MAX} ×`,
    verdict: verdictOf(all <= RATIO_MAX * half),
  };
}

/** A text whose size and pieces are such a part of all. */
function brokenText(part: number): ReplicaDocument {
  const random = seededRandom(1);
  const line = (at: number) => `- ${at} says what the house expects of code\n`;
  const added = (FRAGMENTS * part) / 2;
  const lines = Array.from({ length: LINES * part - added }, (_, at) => line(at));
  let document = new ReplicaDocument([], 1);
  document.setContent(lines.join(""), NOW);
  for (let author = 0; author < AUTHORS; author++) {
    const next = new ReplicaDocument([Y.encodeStateAsUpdate(document.ydoc)], 2 + author);
    for (let count = 0; count < added / AUTHORS; count++) {
      lines.splice(Math.floor(random() * lines.length), 0, line(LINES * (1 + author) + count));
    }
    next.setContent(lines.join(""), NOW);
    document = next;
  }
  return document;
}

/** Others rewrite every second line, and a save that has not seen it has the text as it was. */
function pureTimes(document: ReplicaDocument): Times {
  const from = stateOf(document);
  const lines = from.base.text.split(/(?<=\n)/);
  const rewritten = new ReplicaDocument([Y.encodeStateAsUpdate(document.ydoc)], 99);
  rewritten.setContent(lines.map((line, at) => (at % 2 ? line : `new ${line}`)).join(""), NOW);
  const to = stateOf(rewritten);
  const change = changeBetween(from, to);
  const unseen: Arrival[] = change ? [{ ...change, id: 1, at: NOW, machine: undefined }] : [];
  const facts = {
    base: to.base,
    live: to.base,
    lines: from.base.text,
    author: { machine: undefined },
  };
  return {
    "what a write brings": timeOf(() => changeBetween(from, to)),
    "what a stale save means": timeOf(() =>
      planSave({ ...facts, unseen, savedAt: NOW, isPulled: false }),
    ),
  };
}

function stateOf(document: ReplicaDocument): FileState {
  return { hash: "", base: document.captureText(), form: document.textForm() };
}

function timeOf(run: () => unknown): number {
  const all = Array.from({ length: REPEATS }, () => {
    const startedAt = performance.now();
    run();
    return performance.now() - startedAt;
  });
  return median(all);
}

/** A daemon's looks at the file: others' changes are written into it, and saves of it are taken. */
async function lookTimes({ folder }: Bench, document: ReplicaDocument): Promise<Times> {
  const dir = await folder();
  const git = createGitSandbox();
  mkdirSync(join(dir, "project"));
  const machine = await FollowedMachine.open("bench", join(dir, "project"), dir, git.git);
  try {
    await machine.load(Y.encodeStateAsUpdate(document.ydoc));
    await machine.follow({ write: true });
    const taken: number[] = [];
    const written: number[] = [];
    for (let count = 0; count < REPEATS; count++) {
      written.push(await elapsed(() => machine.setDoc(`${machine.file()}from others ${count}\n`)));
      taken.push(await elapsed(() => machine.save(`saved ${count}\n${machine.file()}`)));
    }
    return { "a change written": median(written), "a save taken": median(taken) };
  } finally {
    await machine.stop();
    git.remove();
  }
}

async function elapsed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
