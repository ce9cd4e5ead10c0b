import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { explain, type ReasonOf } from "../../shared/reasons.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import {
  listTextConflicts,
  settleTextConflict,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { disagree } from "../../shared/replica/document/memory-deletion.ts";
import {
  MADE_OF_PREFIX,
  REMOVED_PREFIX,
  TEXT_CONFLICT_PREFIX,
} from "../../shared/replica/document/own-metadata.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import {
  type Allows,
  allowPrivateOf,
  entryReason,
  metadataReason,
  textReason,
  type WhyHeld,
} from "../held/judge.ts";
import { shownKey } from "../held/shown-key.ts";
import type { HeldWrite } from "../home/held-store.ts";
import { findProjectName } from "../home/project-name.ts";
import type { DaemonTables } from "../home/tables.ts";

type Context = WriteContext<DaemonTables>;
type Db = Kysely<DaemonTables>;

/** At most this many parts are named. */
const NAMED_MAX = 3;

/** A part of a document, as if it were written now. */
interface Part extends Pick<HeldWrite, "kind" | "key"> {
  readonly value: string;
  /** What people call it; its key is named behind that. */
  readonly called: string;
  /** The key that is shown, where it is another one. */
  readonly shownAs?: string;
}

/** A part that must not come to a service, and why. */
interface PrivatePart extends Part {
  readonly why: WhyHeld["reason"];
}

/** A project must not come to a service before what is private in it is deleted or allowed. */
export class PrivateThere extends AppError {
  constructor(readonly reason: ReasonOf<"private-there">) {
    super("invalid_request", explain(reason));
  }
}

/**
 * Throws `PrivateThere` if a project has what must not enter one, as if all of it were written
 * now: a service gets it for the first time. What was private by no rule when it was written may be
 * so by now. Nothing is taken out of it, for others may have the same document: what is deleted in
 * it they lose, and what is written anew under another client id they have twice.
 */
export async function refusePrivate(
  context: Context,
  open: OpenDocument,
  { project, remote }: { readonly project: ProjectId; readonly remote: string },
): Promise<void> {
  const { db } = context;
  const found = await privateParts(context, open);
  if (found.length === 0) return;
  const parts: string[] = [];
  for (const { called, shownAs, kind, key, why } of found.slice(0, NAMED_MAX)) {
    const shown = await shownKey({ key: shownAs ?? key, kind, cause: "private" });
    parts.push(`${shown === "" ? called : `${called} ${shown}`} ${explain(why)}`);
  }
  throw new PrivateThere({
    code: "private-there",
    project: (await findProjectName(db, project)) ?? project,
    remote,
    parts,
    more: found.length - parts.length,
  });
}

/**
 * Settles conflicts that have something private and that the text has settled, and forgets that a
 * memory with a private name was deleted: these are listed nowhere, so nobody could delete them.
 * The oldest deletions of memories are forgotten in any project.
 */
export async function settlePrivateOver(context: Context, open: OpenDocument): Promise<void> {
  const { document, address } = open;
  const content = document.content();
  for (const key of [...document.metadata.keys()]) {
    const part = nameIn(key);
    if (!part || !isToldOfNothing(document, key, part.key)) continue;
    if (await reasonOf(context.db, part, address.name)) document.deleteEntry("metadata", key);
  }
  for (const record of listTextConflicts(document)) {
    if (!isOver(record, content)) continue;
    const place = { document: address.name, already: [] };
    for (const { value } of document.metadata.get(TEXT_CONFLICT_PREFIX + record.id)) {
      if (!(await metadataReason(context.db, { key: "", value }, place))) continue;
      settleTextConflict(document, record.id, context.now);
      break;
    }
  }
}

/** What is private in a document may be synced from now on, as far as a person says so. */
export async function allowPrivateParts(
  context: Context,
  open: OpenDocument,
  allows: Allows,
): Promise<void> {
  const { db, now } = context;
  for (const part of await privateParts(context, open)) {
    await allowPrivateOf(db, { ...part, document: open.address.name }, { now, allows });
  }
}

async function privateParts({ db, pause }: Context, open: OpenDocument): Promise<PrivatePart[]> {
  const { document, address } = open;
  const found: PrivatePart[] = [];
  for (const part of partsOf(document)) {
    const why = await reasonOf(db, part, address.name);
    if (why) found.push({ ...part, why });
    await pause();
  }
  return found;
}

async function reasonOf(db: Db, { kind, key, value }: Part, document: string) {
  const place = { document, already: [] };
  if (kind === "text") return await textReason(db, value, place);
  if (kind === "memory") return await entryReason(db, { key, value }, place);
  return await metadataReason(db, { key, value: JSON.parse(value) }, place);
}

/** The name of a memory in what is told of it in metadata; undefined for other metadata. */
function nameIn(metadataKey: string): Part | undefined {
  const prefix = [REMOVED_PREFIX, MADE_OF_PREFIX].find((each) => metadataKey.startsWith(each));
  if (prefix === undefined) return undefined;
  const key = metadataKey.slice(prefix.length);
  return { kind: "memory", key, value: "", called: "what is told of the memory" };
}

/** Whether the memory is gone, and nobody is asked about that. */
function isToldOfNothing(
  { memories, metadata }: ReplicaDocument,
  metadataKey: string,
  memory: string,
): boolean {
  return memories.get(memory).length === 0 && !disagree(metadata.get(metadataKey));
}

/**
 * All that a service would get of a document, with losing versions and names; but for what
 * `settlePrivateOver` takes out.
 */
function* partsOf(document: ReplicaDocument): Generator<Part> {
  const { memories, metadata } = document;
  const content = document.content();
  const over = new Set(
    listTextConflicts(document)
      .filter((record) => isOver(record, content))
      .map(({ id }) => TEXT_CONFLICT_PREFIX + id),
  );
  yield { kind: "text", key: "", value: content, called: "its text" };
  for (const key of memories.keys()) {
    for (const { value } of memories.get(key)) {
      yield { kind: "memory", key, value: String(value), called: "the memory" };
    }
  }
  for (const key of metadata.keys()) {
    const named = nameIn(key);
    if (named && !isToldOfNothing(document, key, named.key)) yield named;
    const isConflict = key.startsWith(TEXT_CONFLICT_PREFIX);
    if (over.has(key)) continue;
    if (!isConflict && !isPublicKey(key)) continue;
    const called = isConflict ? "the conflict" : "the metadata";
    const shownAs = isConflict ? key.slice(TEXT_CONFLICT_PREFIX.length) : key;
    for (const { value } of metadata.get(key)) {
      const json = JSON.stringify(value);
      yield { kind: "metadata", key: isConflict ? "" : key, value: json, called, shownAs };
    }
  }
}
