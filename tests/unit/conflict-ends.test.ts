import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  NewVersion,
  TextConflictKind,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "../support/exchange-machines.ts";
import { LONG_MS } from "../support/followed-clones.ts";
import { FollowedMachine } from "../support/followed-machines.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

/** What the letters of the table stand for. */
const LINES: ReadonlyMap<string, string> = new Map([
  ["A", "- npm run check --all\n"],
  ["A'", "- npm run check --all --now\n"],
  ["B", "- npm run check --one\n"],
  ["B'", "- npm run check --one --now\n"],
  ["AB", "- npm run check --all or --one\n"],
  ["C", "- make verify please\n"],
]);

// The lines of the table stand behind each of these.
const [HERE, THERE] = ["- npm run build\n", "some words here\n"];
const TOP = `# Guide\n\n## Run\n\n${HERE}`;
const MIDDLE = `- npm run ship\n\n## Other\n\n${THERE}`;
const END = "\nthe end of it\n";

interface Row {
  readonly kind: TextConflictKind;
  readonly versions: readonly [ofA: string, ofB: string];
  readonly text: string;
  readonly edits: readonly [byA: string, byB: string];
  /** The one that has not heard of the conflict, which the other one tells. */
  readonly unheardBy: 0 | 1 | undefined;
  readonly after: readonly [text: string, told: string];
}

function readTable(): Row[] {
  const page = join(import.meta.dir, "../../docs/design/conflicts.md");
  const lines = readFileSync(page, "utf8").split("\n");
  const rows = lines.slice(lines.findIndex((line) => line.startsWith("| kind | of a |")) + 2);
  return rows
    .filter((line) => line.startsWith("|"))
    .map((line) => {
      const [kind = "", ofA = "", ofB = "", text = "", byA = "", byB = "", ...after] = line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim());
      return {
        kind: kind as TextConflictKind,
        versions: [ofA, ofB],
        text,
        edits: [byA.replace(" ?", ""), byB.replace(" ?", "")],
        unheardBy: byA.endsWith("?") ? 0 : byB.endsWith("?") ? 1 : undefined,
        after: [after[0] ?? "", after[1] ?? ""],
      };
    });
}

/** The lines that a cell names, at both places. */
function linesOf(cell: string): readonly [here: string, there: string] {
  const [here = "", there = ""] = cell.split("/").map((names) => {
    const known = names.split(" ").filter((name) => name !== "" && name !== "-");
    return known.map((name) => LINES.get(name) ?? `no ${name}\n`).join("");
  });
  return [here, there];
}

function textOf(cell: string): string {
  const [here, there] = linesOf(cell);
  return cell === "cleared" ? "" : `${TOP}${here}${MIDDLE}${there}${END}`;
}

function versionOf(cell: string, machine: string): NewVersion {
  const [here, there] = linesOf(cell.replace("*", ""));
  const text = here + there;
  const place = { behind: here === "" ? THERE : HERE, text };
  const isStanding = cell.endsWith("*");
  return { text, machine, at: 1, ...(text !== "" && { places: [place] }), isStanding };
}

/** As a cell has it; "lost" for lines that are no row's. */
function namesOf(text: string): string {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== "");
  const names = lines.map((line) => [...LINES].find(([, known]) => known === line)?.[0]);
  return names.includes(undefined) ? "lost" : names.join(" ");
}

function cellOf(text: string): string {
  if (text === "") return "cleared";
  const parts = text.slice(TOP.length, -END.length).split(MIDDLE);
  const [here, there] = [namesOf(parts[0] ?? ""), namesOf(parts[1] ?? "")];
  return [here, there && `/${there}`].filter(Boolean).join(" ") || "-";
}

let sandbox: GitSandbox;

beforeAll(() => {
  sandbox = createGitSandbox();
});

afterAll(() => sandbox.remove());

async function openMachine(name: string, nth: string): Promise<FollowedMachine> {
  const dir = sandbox.path(nth, name);
  mkdirSync(dir, { recursive: true });
  return await FollowedMachine.open(name, dir, sandbox.path(nth, `home-${name}`), sandbox.git);
}

/** What the text is then, and what is told. */
async function edited(row: Row, nth: string): Promise<[text: string, told: string]> {
  const { kind, versions, text, unheardBy, edits } = row;
  const [a, b] = [await openMachine("a", nth), await openMachine("b", nth)];
  const both = [a, b];
  const teller = unheardBy === 0 ? b : a;
  const told = unheardBy === undefined ? "-" : (versions[1 - unheardBy] ?? "-");
  await teller.setDoc(textOf(text.replace(told, "-")));
  await exchange(both);
  await teller.setDoc(textOf(text));
  await teller.tell({ kind, versions: [versionOf(versions[0], "a"), versionOf(versions[1], "b")] });
  if (unheardBy === undefined) await exchange(both);
  for (const each of both) await each.pass(LONG_MS);
  for (const [at, edit] of edits.entries()) if (edit) await both[at]?.setDoc(textOf(edit));
  await exchange(both);
  const listed = await a.listed();
  expect(await b.listed()).toEqual(listed);
  const open = (await a.conflicts()).filter(({ id }) => listed.includes(id));
  const shown = open.map((each) => {
    if (each.kind === "deletion" && kind !== "deletion") return "lost";
    return each.versions.map((version) => namesOf(version.text) || "-").join(", ");
  });
  const after = cellOf(await a.doc());
  for (const each of both) await each.stop();
  return [after, shown.sort().join("; ")];
}

for (const [at, row] of readTable().entries()) {
  const { kind, versions, text, edits, unheardBy } = row;
  const made = edits.map((edit, by) => `${edit || "nothing"}${by === unheardBy ? " unheard" : ""}`);
  test(`${kind} of ${versions.join(" and ")} where ${text} stands, of which a makes ${made.join(" and b ")}`, async () => {
    expect(await edited(row, `${at}`)).toEqual([...row.after]);
  });
}

test("a conflict of which one takes a version out unheard stays though the two meet elsewhere, too", async () => {
  const [a, b] = [await openMachine("a", "elsewhere"), await openMachine("b", "elsewhere")];
  await a.setDoc(textOf("A B"));
  await exchange([a, b]);
  await a.tell({ kind: "both", versions: [versionOf("A", "a"), versionOf("B", "b")] });
  await a.setDoc(textOf("A B").replace("some words", "some good words"));
  await b.setDoc(textOf("A").replace("some words", "some bad words"));
  await exchange([a, b]);
  const told = (await b.conflicts()).map(({ versions }) => versions.map(({ text }) => text));
  expect(told).toContainEqual([LINES.get("A") ?? "", LINES.get("B") ?? ""]);
  expect(told).toHaveLength(2);
  for (const each of [a, b]) await each.stop();
});
