import type { Kysely, Selectable } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import { forgetLines } from "./line-arrival-key.ts";
import type { DaemonTables, PersonalFilesTable } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** What is written over what, and into which file: links were followed. */
export interface BegunPersonal {
  readonly path: string;
  readonly former: string;
  readonly intended: string;
}

/** A file of an assistant that has the personal text, as memsync read or wrote it last. */
export interface PersonalFile {
  /** What the assistant is called on a command line. */
  readonly assistant: string;
  /** Where the assistant looks for the file. It may be a link. */
  readonly path: string;
  /** What a file begins with that memsync makes; else empty. */
  readonly header: string;
  /** A person agreed that it is written although git tracks it. */
  readonly writes: boolean;
  /** The file was not there before the block was. */
  readonly isMade: boolean;
  /** The account of whose text it has; undefined before the first look. */
  readonly account?: AccountId | undefined;
  /** The version that the block showed last, as a memory's value; undefined: nothing yet. */
  readonly shown?: string | undefined;
  /** The version that is being written into it. */
  readonly next?: string | undefined;
  /** The write of the whole file that was begun last, and has not been seen to end. */
  readonly begun?: BegunPersonal | undefined;
  /** Hash of a text that the block has, and that is held. */
  readonly held?: string | undefined;
  /** What somebody has to decide about. */
  readonly asked?: PersonalQuestion | undefined;
  /** What a person has decided. */
  readonly settled?: PersonalDecision | undefined;
  /** Hash of the text that the person was shown who takes it; undefined: whatever the block has. */
  readonly takes?: string | undefined;
  /** Where the path led when the block was read last; undefined: not since that is kept. */
  readonly target?: string | undefined;
  /** Hashes of the texts that the block had before its own last edits. */
  readonly undone: readonly string[];
}

/**
 * `missing`: the file or its block is gone. `emptied`: nothing stands in the block. `former`: it
 * has an earlier version. `deleted`: the text is gone. `found`: what stands in the block may be
 * somebody else's, as it was there before the file was turned on, or while a project had it.
 */
export type PersonalQuestion = NonNullable<PersonalFilesTable["asked"]>;

/**
 * `adopt`: all that the file has is to be in the block. `take`: what the block has counts. `off`:
 * the block goes. `keep`: the same, but its text stays.
 */
export type PersonalDecision = NonNullable<PersonalFilesTable["settled"]>;

/** The files that have the text, in the order in which they were turned on. */
export async function listPersonalFiles(db: Db): Promise<PersonalFile[]> {
  const rows = await db
    .selectFrom("personal_files")
    .selectAll()
    .orderBy("turned_on_at")
    .orderBy("assistant")
    .execute();
  return rows.map(toFile);
}

/** The file of an assistant; undefined where it has none. */
export async function findPersonalFile(
  db: Db,
  assistant: string,
): Promise<PersonalFile | undefined> {
  return (await listPersonalFiles(db)).find((file) => file.assistant === assistant);
}

function toFile(row: Selectable<PersonalFilesTable>): PersonalFile {
  const { assistant, path, header, writes, is_made, account, shown, next, held, asked } = row;
  return {
    assistant,
    path,
    header,
    writes: writes === 1,
    isMade: is_made === 1,
    account: account ?? undefined,
    shown: shown ?? undefined,
    next: next ?? undefined,
    begun: row.begun === null ? undefined : parseStored<BegunPersonal>(row.begun),
    held: held ?? undefined,
    asked: asked ?? undefined,
    settled: row.settled ?? undefined,
    takes: row.takes ?? undefined,
    target: row.target ?? undefined,
    undone: parseStored<string[]>(row.undone),
  };
}

/** Adds an assistant's file, or replaces what is known of it. Durable with the transaction. */
export async function putPersonalFile(db: Db, file: PersonalFile, now: number): Promise<void> {
  const values = {
    path: file.path,
    header: file.header,
    writes: file.writes ? 1 : 0,
    is_made: file.isMade ? 1 : 0,
    account: file.account ?? null,
    shown: file.shown ?? null,
    next: file.next ?? null,
    begun: file.begun === undefined ? null : JSON.stringify(file.begun),
    held: file.held ?? null,
    asked: file.asked ?? null,
    settled: file.settled ?? null,
    takes: file.takes ?? null,
    target: file.target ?? null,
    undone: JSON.stringify(file.undone),
  };
  await db
    .insertInto("personal_files")
    .values({ assistant: file.assistant, turned_on_at: now, ...values })
    .onConflict((conflict) => conflict.column("assistant").doUpdateSet(values))
    .execute();
}

/** Notes a person's decision; see `takes`. False: the assistant has no such file. */
export async function settlePersonalFile(
  db: Db,
  assistant: string,
  { settled, takes }: Pick<PersonalFile, "settled" | "takes">,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("personal_files")
    .set({ settled: settled ?? null, takes: takes ?? null })
    .where("assistant", "=", assistant)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Who answers from now on has seen what stands in the block now; who leaves the file out has. */
export function askedWhoseText(file: PersonalFile): PersonalFile {
  const isLeft = file.settled === "off" || file.settled === "keep";
  const settled = isLeft ? file.settled : undefined;
  return { ...file, settled, takes: undefined, asked: "found" };
}

/** What stands in the file's block now may be somebody else's. Durable with the transaction. */
export async function askWhoseText(db: Db, file: PersonalFile): Promise<void> {
  const { asked = null, settled = null } = askedWhoseText(file);
  await db
    .updateTable("personal_files")
    .set({ asked, settled, takes: null })
    .where("assistant", "=", file.assistant)
    .execute();
}

/** A text is held no more. A block that has it still, or again, is judged anew. */
export async function forgetHeldPersonal(db: Db, hash: string): Promise<void> {
  await db.updateTable("personal_files").set({ held: null }).where("held", "=", hash).execute();
}

export async function forgetPersonalFile(db: Db, assistant: string): Promise<void> {
  const former = await db
    .deleteFrom("personal_files")
    .where("assistant", "=", assistant)
    .returning("path")
    .executeTakeFirst();
  if (former) await forgetLines(db, former.path);
}
