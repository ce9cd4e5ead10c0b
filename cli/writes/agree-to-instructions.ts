import type { Kysely } from "kysely";
import { listPersonalFiles } from "../../daemon/home/personal-files.ts";
import { PERSONAL_MARK } from "../../daemon/home/personal-mark.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { personalMemories } from "../../daemon/reading/personal-keys.ts";
import type { LocalDocument } from "../local/local-documents.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed } from "../screen/errors.ts";
import { complain, count } from "../screen/output.ts";
import type { WriteGuard } from "./inbox-write.ts";

type Db = Kysely<DaemonTables> | undefined;

/** A value that a memory is to have, and further versions that come beside it. */
interface ComingMemory {
  readonly key: string;
  readonly value: string;
  readonly conflicts?: readonly { readonly value: string }[] | undefined;
}

interface Asking {
  /** What is done to it, such as "saved". */
  readonly done: string;
  readonly options: { readonly yes?: boolean | undefined };
}

/** At most this many lines of each kind are shown, so that the question fits on a screen. */
const SHOWN_MAX = 8;

/**
 * Asks before a write takes lines out of the personal text: every assistant on every machine goes
 * by it, and has it from files in which nobody sees who has written what. Throws without a yes.
 * Returns what the write has to find as it was shown.
 */
export async function agreeToReplace(
  env: Environment,
  place: MemoryPlace,
  { key, value, done, options }: Asking & { readonly key: string; readonly value: string },
): Promise<WriteGuard | undefined> {
  const standing = await withLocal(env, (db) => standingText(db, place, { key, value }));
  if (!standing) return undefined;
  const { goes } = changeOf(standing.text, [value]);
  if (goes.length > 0) await agreeToChange({ goes, comes: [] }, { done, options });
  return (known) => {
    if (known?.value === standing.memory?.value) return;
    throw new CommandFailed(
      `your own instructions have changed just now, and nothing was ${done}: try again`,
    );
  };
}

/** The same for a memory of any document that a command deletes beside what it is about. */
export async function agreeToDelete(
  env: Environment,
  { layer, name, account }: Pick<LocalDocument, "layer" | "name" | "account">,
  { key, options }: Pick<Asking, "options"> & { readonly key: string },
): Promise<void> {
  const place = { layer, document: name, account, remote: undefined };
  await agreeToReplace(env, place, { key, value: "", done: "deleted", options });
}

/**
 * The same for an import, which may bring another person's text. New lines are asked about as well,
 * unless nothing has the text yet, as in a new home.
 */
export async function agreeToImport(
  env: Environment,
  place: MemoryPlace,
  { memories, options }: Pick<Asking, "options"> & { readonly memories: readonly ComingMemory[] },
): Promise<void> {
  for (const { key, value, conflicts = [] } of memories) {
    const standing = await withLocal(env, (db) => standingText(db, place, { key, value }));
    if (!standing || (standing.text === "" && !standing.isInFiles)) continue;
    const others = conflicts.map((each) => each.value);
    const change = changeOf(standing.text, [value, ...others]);
    if (change.goes.length + change.comes.length === 0) continue;
    await agreeToChange(change, { done: "imported", options });
  }
}

interface StandingText {
  /** Without its first line, which is memsync's. */
  readonly text: string;
  readonly memory: LocalMemory | undefined;
  /** It is in the files of assistants, or would be. */
  readonly isInFiles: boolean;
}

/** The personal text, if a memory is to be that; of a deleted one, what the files still have. */
async function standingText(
  db: Db,
  { document, account }: MemoryPlace,
  coming: { readonly key: string; readonly value: string },
): Promise<StandingText | undefined> {
  if (!db) return undefined;
  const isPersonal = await personalMemories(db, { document, account });
  const memories = await readLocalMemories(db, document, account);
  const memory = memories.find(({ key }) => key === coming.key);
  if (!isPersonal(coming) && !(memory && isPersonal(memory))) return undefined;
  const files = await listPersonalFiles(db);
  const values = memory ? [memory.value] : files.map(({ shown = "" }) => shown);
  const text = values.map((value) => value.replace(PERSONAL_MARK, "")).join("\n");
  return { text: text.trim(), memory, isInFiles: files.length > 0 };
}

interface LineChange {
  readonly goes: readonly string[];
  readonly comes: readonly string[];
}

/** `values`: what is to be the text, and what comes beside it. */
function changeOf(standing: string, values: readonly string[]): LineChange {
  const [before, after] = [linesOf(standing), linesOf(values[0] ?? "")];
  const coming = new Set(values.flatMap((value) => [...linesOf(value)]));
  return {
    goes: [...before].filter((line) => !after.has(line)),
    comes: [...coming].filter((line) => !before.has(line)),
  };
}

function linesOf(value: string): Set<string> {
  const lines = value.replace(PERSONAL_MARK, "").split("\n");
  return new Set(lines.map((line) => line.trimEnd()).filter((line) => line !== ""));
}

async function agreeToChange({ goes, comes }: LineChange, { done, options }: Asking) {
  if (options.yes) return;
  complain("your own instructions, which all your assistants have on all your machines, change:", [
    ...shownLines("-", goes),
    ...shownLines("+", comes),
  ]);
  const parts = [
    ...(goes.length > 0 ? [`${count(goes.length, "line goes", "lines go")}`] : []),
    ...(comes.length > 0 ? [`${count(comes.length, "line comes", "lines come")}`] : []),
  ];
  await agreeTo(`${parts.join(" and ")}, in all of them. Is that what you want?`, {
    undone: `nothing was ${done}`,
  });
}

function shownLines(sign: string, lines: readonly string[]): string[] {
  const shown = lines.slice(0, SHOWN_MAX).map((line) => `  ${sign} ${line}`);
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `  ${sign} and ${count(left, "line", "lines")} more`] : shown;
}
