import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { explain, type ReasonOf } from "../../shared/reasons.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import {
  listTextConflicts,
  settleTextConflict,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
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

/** A document must not come to a service before what is private in it is deleted or allowed. */
export class PrivateThere extends AppError {
  constructor(readonly reason: ReasonOf<"private-there">) {
    super("invalid_request", explain(reason));
  }
}

/**
 * Throws `PrivateThere` if a document has what must not enter one, as if all of it were written
 * now: a service gets it for the first time. What was private by no rule when it was written may be
 * so by now. Nothing is taken out of it, for others may have the same document: what is deleted in
 * it they lose, and what is written anew under another client id they have twice.
 */
export async function refusePrivate(context: Context, open: OpenDocument): Promise<void> {
  const { db } = context;
  const found = await privateParts(context, open);
  if (found.length === 0) return;
  const { name } = open.address;
  const project = projectOf(name);
  const projectName = project && ((await findProjectName(db, project)) ?? project);
  const parts: string[] = [];
  for (const { called, shownAs, kind, key, why } of found.slice(0, NAMED_MAX)) {
    const shown = await shownKey({ key: shownAs ?? key, kind, cause: "private" });
    parts.push(`${shown === "" ? called : `${called} ${shown}`} ${explain(why)}`);
  }
  throw new PrivateThere({
    code: "private-there",
    of: projectName ?? `the layer ${layerOf(name)}`,
    isProject: project !== undefined,
    parts,
    more: found.length - parts.length,
  });
}

/**
 * Settles conflicts that have something private and that the text has settled: they are listed
 * nowhere, so nobody could delete them.
 */
export async function settlePrivateOver(context: Context, open: OpenDocument): Promise<void> {
  const { document, address } = open;
  const content = document.content();
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

/**
 * All that a service would get of a document, losing versions and names of deleted memories; but
 * for conflicts that the text has settled, see `settlePrivateOver`.
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
    const named = [REMOVED_PREFIX, MADE_OF_PREFIX].find((prefix) => key.startsWith(prefix));
    if (named !== undefined) {
      const memory = key.slice(named.length);
      yield { kind: "memory", key: memory, value: "", called: "what is told of the memory" };
    }
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
