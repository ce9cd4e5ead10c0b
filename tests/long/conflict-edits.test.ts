import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import type { TextConflictKind } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import {
  type ConflictRow,
  type PlayedRow,
  playRow,
  TABLE_LINES,
  textOfCell,
} from "../support/conflict-table.ts";
import { exchange, exchangeOverService } from "../support/exchange-machines.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";
import { seededRandom } from "../support/random.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(600_000);

/** What a machine may make of a conflict; nothing first. */
const EDITS = ["", "-", "A", "B", "A B", "A'", "B'", "A' B", "A B'", "C", "/A", "A /B", "cleared"];

/** The conflicts of two versions, and what stands of them. */
const CONFLICTS: readonly (readonly [TextConflictKind, string, string, string])[] = [
  ["both", "A", "B", "A B"],
  ["unseen", "A", "B", "A B"],
  ["renewed", "A", "B", "A B"],
  ["both", "A", "-", "A"],
  ["moved", "A", "/A*", "/A"],
  ["twice", "A", "/A", "A /A"],
  ["set-aside", "A*", "-", "A"],
  ["set-aside", "A*", "C", "A"],
];

/** How two machines come together, whoever calls first. */
const MEETINGS: Readonly<Record<string, (both: readonly FollowedMachine[]) => Promise<void>>> = {
  "a is called first": exchange,
  "b is called first": (both) => exchange(both.toReversed()),
  "a calls a service first": exchangeOverService,
  "b calls a service first": (both) => exchangeOverService(both.toReversed()),
};

/** `MEMSYNC_ROWS=507` tries all of each conflict, whatever the seed. */
const HOW_MANY = Number(process.env.MEMSYNC_ROWS ?? 25);
const SEED = Number(process.env.MEMSYNC_SEEDS ?? Math.floor(Math.random() * 1e6));
let count = 0;

const ALL = ([undefined, 0, 1] as const).flatMap((unheardBy) =>
  EDITS.flatMap((a) => EDITS.map((b) => ({ edits: [a, b] as const, unheardBy }))),
);

/** Some of all edits, each once. */
function drawn(howMany: number) {
  const random = seededRandom(SEED);
  const left = [...ALL];
  const draw = () => left.splice(Math.floor(random() * left.length), 1);
  return Array.from({ length: Math.min(howMany, left.length) }, draw).flat();
}

let sandbox: GitSandbox;

beforeAll(() => {
  sandbox = createGitSandbox();
});

afterAll(() => sandbox.remove());

type Played = Pick<ConflictRow, "versions" | "text" | "edits" | "unheardBy">;

/** Which of the lines of two versions a text has, or has something of. */
function ofLines({ versions }: Pick<Played, "versions">, text: string): Set<string> {
  const lines = plainLines(text).map((line) => `${line}\n`);
  const names = [...TABLE_LINES].flatMap(([name, line]) => (lines.includes(line) ? [name] : []));
  const letters = names.flatMap((name) => (name === "C" ? [] : name.replace("'", "").split("")));
  // Where it is no version of its own, B is A mended.
  return new Set(versions[1] === "B" ? letters : letters.map(() => "A"));
}

/** What a machine had before its edit, and with it. */
function ofMachine(row: Played, at: number) {
  const { versions, text, edits, unheardBy } = row;
  const told = (unheardBy === at ? versions[1 - at] : undefined) ?? "-";
  const had = ofLines(row, textOfCell(text.replace(told, "-")));
  const edit = edits[at] ?? "";
  return { had, has: edit === "" ? had : ofLines(row, textOfCell(edit)) };
}

/** What is in no text that anybody is shown, though nobody who had it wanted that. */
function lostIn(row: Played, { text, told }: PlayedRow): string[] {
  const shown = told.flatMap(({ versions }) => versions.map((version) => version.text));
  const left = new Set([text, ...shown].flatMap((each) => [...ofLines(row, each)]));
  const machines = [ofMachine(row, 0), ofMachine(row, 1)];
  const stood = ofLines(row, textOfCell(row.text));
  const gone = [...stood].filter((line) => !left.has(line));
  const untaken = gone.filter((line) => {
    return !machines.some(({ had, has }) => had.has(line) && !has.has(line));
  });
  const fresh = machines.flatMap(({ had, has }) => [...has].filter((line) => !had.has(line)));
  const unsaid = fresh.filter((line) => !left.has(line));
  const isAllGone = stood.size > 0 && gone.length === stood.size && told.length === 0;
  // Whoever had all of it and wanted none of it.
  const isWanted = machines.some(({ had, has }) => {
    return [...stood].every((line) => had.has(line) && !has.has(line));
  });
  return [...untaken, ...unsaid, ...(isAllGone && !isWanted ? ["all"] : [])];
}

for (const [how, meet] of Object.entries(MEETINGS)) {
  for (const [kind, ofA, ofB, text] of CONFLICTS) {
    test(`whatever two make of a conflict (${kind}) of ${ofA} and ${ofB}, no version is gone untold where ${how}`, async () => {
      const lost: string[] = [];
      for (const { edits, unheardBy } of drawn(HOW_MANY)) {
        const row = { kind, versions: [ofA, ofB], text, edits, unheardBy } as const;
        const [played, other] = await playRow(row, { sandbox, nth: `${++count}`, meet });
        const who = unheardBy === undefined ? "" : `, unheard by ${"ab"[unheardBy]}`;
        const made = `a makes "${edits[0]}", b "${edits[1]}"${who}`;
        for (const each of lostIn(row, played)) lost.push(`${each}: ${made}`);
        if (!isDeepStrictEqual(other, played)) lost.push(`not alike: ${made}`);
      }
      expect({ seed: SEED, lost }).toEqual({ seed: SEED, lost: [] });
    });
  }
}
