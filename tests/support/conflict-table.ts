import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  NewVersion,
  TextConflictKind,
  TextConflictRecord,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "./exchange-machines.ts";
import { LONG_MS } from "./followed-clones.ts";
import { FollowedMachine } from "./followed-machines.ts";
import type { GitSandbox } from "./git-sandbox.ts";

/** What the letters of the table stand for. */
export const TABLE_LINES: ReadonlyMap<string, string> = new Map([
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

/** What two machines do to a conflict, and what comes of it. */
export interface ConflictRow {
  readonly kind: TextConflictKind;
  readonly versions: readonly [ofA: string, ofB: string];
  readonly text: string;
  readonly edits: readonly [byA: string, byB: string];
  /** The one that has not heard of the conflict, which the other one tells. */
  readonly unheardBy: 0 | 1 | undefined;
  readonly after: readonly [text: string, told: string];
}

/** The table of `docs/design/conflicts.md`. */
export function readConflictTable(): ConflictRow[] {
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
    return known.map((name) => TABLE_LINES.get(name) ?? `no ${name}\n`).join("");
  });
  return [here, there];
}

/** The whole text of a cell. */
export function textOfCell(cell: string): string {
  const [here, there] = linesOf(cell);
  return cell === "cleared" ? "" : `${TOP}${here}${MIDDLE}${there}${END}`;
}

/** What a cell says as the version of a machine. */
export function versionOfCell(cell: string, machine: string): NewVersion {
  const [here, there] = linesOf(cell.replace("*", ""));
  const text = here + there;
  const place = { behind: here === "" ? THERE : HERE, text };
  const isStanding = cell.endsWith("*");
  return { text, machine, at: 1, ...(text !== "" && { places: [place] }), isStanding };
}

/** As a cell has it; "lost" for lines that are no row's. */
function namesOf(text: string): string {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== "");
  const names = lines.map((line) => [...TABLE_LINES].find(([, known]) => known === line)?.[0]);
  return names.includes(undefined) ? "lost" : names.join(" ");
}

function cellOf(text: string): string {
  if (text === "") return "cleared";
  const parts = text.slice(TOP.length, -END.length).split(MIDDLE);
  const [here, there] = [namesOf(parts[0] ?? ""), namesOf(parts[1] ?? "")];
  return [here, there && `/${there}`].filter(Boolean).join(" ") || "-";
}

/** What has come of a row, as a machine has it then. */
export interface PlayedRow {
  readonly text: string;
  /** The conflicts that a person is shown, by their ids. */
  readonly told: readonly TextConflictRecord[];
}

interface TableFolders {
  readonly sandbox: GitSandbox;
  /** A name for the folders of these machines. */
  readonly nth: string;
}

/** A machine of the table. */
export async function openOfTable(
  name: string,
  { sandbox, nth }: TableFolders,
): Promise<FollowedMachine> {
  const dir = sandbox.path(nth, name);
  mkdirSync(dir, { recursive: true });
  return await FollowedMachine.open(name, dir, sandbox.path(nth, `home-${name}`), sandbox.git);
}

type PlayableRow = Omit<ConflictRow, "after">;

interface PlayOptions extends TableFolders {
  /** How the two come together after their edits. */
  readonly meet?: (both: readonly FollowedMachine[]) => Promise<void>;
}

/** Does what a row says on two machines. Gives what each of them has then. */
export async function playRow(
  { kind, versions, text, unheardBy, edits }: PlayableRow,
  { meet = exchange, ...folders }: PlayOptions,
): Promise<[ofA: PlayedRow, ofB: PlayedRow]> {
  const [a, b] = [await openOfTable("a", folders), await openOfTable("b", folders)];
  const both = [a, b];
  const teller = unheardBy === 0 ? b : a;
  const told = unheardBy === undefined ? "-" : (versions[1 - unheardBy] ?? "-");
  await teller.setDoc(textOfCell(text.replace(told, "-")));
  await exchange(both);
  await teller.setDoc(textOfCell(text));
  const [ofA, ofB] = [versionOfCell(versions[0], "a"), versionOfCell(versions[1], "b")];
  await teller.tell({ kind, versions: [ofA, ofB] });
  if (unheardBy === undefined) await exchange(both);
  for (const each of both) await each.pass(LONG_MS);
  for (const [at, edit] of edits.entries()) if (edit) await both[at]?.setDoc(textOfCell(edit));
  await meet(both);
  const played = [await playedBy(a), await playedBy(b)] as const;
  for (const each of both) await each.stop();
  return [...played];
}

async function playedBy(machine: FollowedMachine): Promise<PlayedRow> {
  const all = await machine.conflicts();
  const told = (await machine.listed()).flatMap((id) => all.find((each) => each.id === id) ?? []);
  return { text: await machine.doc(), told };
}

/** As the table has it. */
export function cellsOf(
  { text, told }: PlayedRow,
  ofKind: TextConflictKind,
): [text: string, told: string] {
  const shown = told.map(({ kind, versions }) => {
    if (kind === "deletion" && ofKind !== "deletion") return "lost";
    return versions.map((version) => namesOf(version.text) || "-").join(", ");
  });
  return [cellOf(text), shown.sort().join("; ")];
}
