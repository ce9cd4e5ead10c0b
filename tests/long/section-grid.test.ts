import { expect, setDefaultTimeout, test } from "bun:test";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import type { TextConflictRecord } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "../support/exchange-machines.ts";
import { FollowedFolders } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(180_000);

/** What a person may do to one section; each side in words of its own. */
interface Section {
  readonly heading: string;
  readonly first: string;
  readonly added: string;
  readonly code: string;
  readonly isMoved: boolean;
  /** `gone`: deleted; else what was written instead. */
  readonly instead: string;
}

const BASE: Section = {
  heading: "One",
  first: "a1",
  added: "",
  code: "make all",
  isMoved: false,
  instead: "",
};

const CHANGES: Readonly<Record<string, (by: string) => Partial<Section>>> = {
  "mends a line": (by) => ({ first: `a1 by ${by}` }),
  "mends code": (by) => ({ code: `make ${by}` }),
  renames: (by) => ({ heading: `One by ${by}` }),
  "adds a line": (by) => ({ added: `- a3 by ${by}\n` }),
  moves: () => ({ isMoved: true }),
  "moves and mends": (by) => ({ isMoved: true, code: `make ${by}` }),
  "moves and renames": (by) => ({ isMoved: true, heading: `One by ${by}` }),
  rewrites: (by) => ({
    instead: `## Fresh ${by}\n\n- new ${by}\n\n\`\`\`sh\nrun ${by}\n\`\`\`\n\n`,
  }),
  deletes: () => ({ instead: "gone" }),
};

function textOf({ heading, first, added, code, isMoved, instead }: Section): string {
  const list = `- ${first}\n- a2\n${added}`;
  const old = `## ${heading}\n\n${list}\n\`\`\`sh\nmake one\n${code}\n\`\`\`\n\n`;
  const own = instead === "" ? old : instead === "gone" ? "" : instead;
  const two = "## Two\n\n- b1\n- b2\n\n";
  const around = isMoved ? `${two}${own}` : `${own}${two}`;
  return `# P\n\nIntro.\n\n## Zero\n\n- z1\n\n${around}## Three\n\n- c1\n`;
}

const KEYS = Object.keys(BASE) as (keyof Section)[];

/**
 * What may stand once all is chosen that one side has: all that it changed, and beside that what
 * the other changed; where the two disagree, that as it was or as the other has it.
 */
function expected(own: Section, other: Section, isTold: boolean): string[] {
  let all: Section[] = [own];
  for (const key of KEYS) {
    if (own[key] !== BASE[key] || other[key] === BASE[key]) continue;
    const also = all.map((each) => ({ ...each, [key]: other[key] }));
    all = isTold ? [...all, ...also] : also;
  }
  if (own.added !== "" && other.added !== "") {
    const alone = isTold ? [own.added] : [];
    const both = [own.added + other.added, other.added + own.added, ...alone];
    all = all.flatMap((each) => both.map((added) => ({ ...each, added })));
  }
  const says = KEYS.some((key) => key !== "isMoved" && own[key] !== BASE[key]);
  const isMeant = (each: Section) => !says || each.instead === own.instead;
  // Whoever deleted it is rid of its lines, whatever another writes there.
  if (own.instead === "gone" && !isTold) {
    return [textOf({ ...own, instead: other.instead || "gone" })];
  }
  return all.filter(isMeant).map(textOf);
}

/**
 * What a person would not expect, and why: a change either way fails. In all of them a diff takes
 * the section over which the other was moved for the moved one.
 */
const WRONG: Readonly<Record<string, string>> = {
  "stale: one moves, the other rewrites; one's": "what was written at the former place stays",
  "stale: one moves and mends, the other deletes; the other's": "of code the mended line stays",
  "stale: one moves and mends, the other rewrites; one's": "of code the mended line alone is told",
  "stale: one moves and mends, the other rewrites; the other's": "the same: it stays",
  "stale: one moves and renames, the other renames; the other's":
    "the name stands where the section was, and none of its lines tells where that is",
  "stale: one moves and renames, the other rewrites; one's": "the name alone is told",
};

async function openIn(machine: FollowedMachine) {
  const text = await machine.doc();
  const all = await machine.conflicts();
  return all.filter((each) => each.kind !== "deletion" && !isOver(each, text));
}

/** The version that a machine has, or that has no other machine's name. */
function versionOf(conflict: TextConflictRecord, name: string): string {
  const [one, two] = conflict.versions;
  const isTwo = one.machine !== name && (two.machine === name || one.machine !== undefined);
  return (isTwo ? two : one).text;
}

/** The text once all is chosen that a machine has; what is wrong with that, if it is. */
async function chosenText(machines: Pair, name: string): Promise<string> {
  const [at] = machines;
  for (let count = 0; count < 4; count++) {
    const [conflict, ...more] = await openIn(at);
    if (!conflict) return await at.doc();
    const writes = await at.choiceOf(versionOf(conflict, name), conflict.id);
    const last = writes.findLast(({ kind }) => kind === "text");
    if (more.length === 0) return last?.kind === "text" ? last.value : await at.doc();
    await at.drain(writes);
    await exchange(machines);
  }
  throw new Error("there is always another conflict");
}

type Pair = readonly [FollowedMachine, FollowedMachine];
type Way = "apart" | "stale";

/** What is not as expected of a choice of either side. */
async function wrongOf(way: Way, [one, two]: readonly [string, string]): Promise<string[]> {
  const sections = [
    { ...BASE, ...CHANGES[one]?.("A") },
    { ...BASE, ...CHANGES[two]?.("B") },
  ] as const;
  const wrong: string[] = [];
  const lab = new FollowedFolders();
  let machines = await met(lab, way, sections);
  const count = (await openIn(machines[0])).length;
  for (const by of [0, 1] as const) {
    const right = expected(sections[by], sections[by === 0 ? 1 : 0], count > 0);
    const text = await chosenText(machines, machines[by].name).catch(() => undefined);
    const whose = by === 0 ? "one's" : "the other's";
    if (text === undefined || !right.includes(text)) {
      wrong.push(`${way}: one ${one}, the other ${two}; ${whose}`);
    }
    if (by === 1 || count < 2) continue;
    // One conflict after the other was settled.
    await lab.end();
    machines = await met(lab, way, sections);
  }
  await lab.end();
  return wrong;
}

async function met(lab: FollowedFolders, way: Way, [one, two]: readonly [Section, Section]) {
  const [base, texts] = [textOf(BASE), [textOf(one), textOf(two)] as const];
  const machines = await (way === "apart"
    ? lab.savedApart(base, texts)
    : lab.savedStale(base, texts));
  await exchange(machines);
  return machines;
}

const NAMES = Object.keys(CHANGES);

for (const way of ["apart", "stale"] as const) {
  for (const [nth, one] of NAMES.entries()) {
    // Apart neither is the first.
    const others = way === "apart" ? NAMES.slice(nth) : NAMES;
    test(`${way}, one ${one}: a choice is what one had, whatever the other does`, async () => {
      const wrong: string[] = [];
      for (const two of others) wrong.push(...(await wrongOf(way, [one, two])));
      const known = Object.keys(WRONG).filter((each) => each.startsWith(`${way}: one ${one}, `));
      expect(wrong.toSorted()).toEqual(known.toSorted());
    });
  }
}
