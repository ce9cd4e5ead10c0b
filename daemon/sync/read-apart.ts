import type { Kysely } from "kysely";
import * as Y from "yjs";
import { type Entry, sameId } from "../../shared/replica/document/entry-index.ts";
import { COMMIT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { claimantOf } from "../../shared/replica/log/homes.ts";
import type { PutLine } from "../../shared/replica/merge/doubles.ts";
import { readMergedText } from "../../shared/replica/merge/merged-lines.ts";
import { withPut } from "../../shared/replica/merge/put-lines.ts";
import { readSideLines } from "../../shared/replica/merge/side-lines.ts";
import { findTakenBack } from "../../shared/replica/merge/taken-back.ts";
import { type IntegratedClocks, tellTakenBack } from "../../shared/replica/merge/text-conflicts.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { deletedIn, holdsAny, type IdRanges, union } from "../../shared/replica/text/id-ranges.ts";
import type { RemovedText } from "../../shared/replica/text/removed-text.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import { type CharacterId, idAt } from "../../shared/replica/text/text-spans.ts";
import { removedSince } from "../home/outgoing.ts";
import type { DaemonTables } from "../home/tables.ts";

const NONE: IdRanges = new Map();

/** For each commit, who has told of it without knowing of the others. */
type ToldCommits = ReadonlyMap<string, readonly Entry[]>;

export function toldCommits({ document: { metadata } }: OpenDocument): ToldCommits {
  const keys = [...metadata.keys()].filter((key) => key.startsWith(COMMIT_PREFIX));
  return new Map(keys.map((key) => [key, metadata.get(key)]));
}

/** What a document had before an update came, and what that has put into its text. */
interface Arrived {
  readonly commits: ToldCommits;
  readonly has: string;
  readonly shown: readonly RemovedText[];
  readonly integrated: IntegratedClocks;
  readonly update: Uint8Array;
  readonly theirs: IdRanges;
  /** What a clean-up of the two put elsewhere. */
  readonly put: readonly PutLine[];
}

/**
 * Two machines that read one commit while no service answered both wrote its lines. One that was
 * deleted here since stands again by what the other wrote, as it was or mended. That is told here,
 * by the machine that deleted it: once the deletion is sent a service keeps nothing of what it
 * said. Belongs behind all else that tells of the meeting.
 */
export async function tellReadApart(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  { commits, has, shown, integrated, update, theirs, put }: Arrived,
): Promise<void> {
  const { document } = open;
  const apart = [...toldCommits(open)].flatMap(([key, entries]) => {
    const isKnown = (entry: Entry) => commits.get(key)?.some(({ id }) => sameId(id, entry.id));
    const known = entries.filter(isKnown);
    return known.length > 0 ? [{ known, news: entries.filter((each) => !isKnown(each)) }] : [];
  });
  const read = apart.filter(({ news }) => news.length > 0);
  if (read.length === 0 || theirs.size === 0) return;
  const since = await readSince(
    context.db,
    open.id,
    read.flatMap(({ known }) => known),
  );
  const removed = await removedSince(context.db, open.id, since.seq);
  if (removed.length === 0) return;
  const deleted = { mine: rangesOf(removed), theirs: rangesOf(shown), both: NONE };
  const had = readSideLines(document.text, {
    mine: since.written,
    theirs: writtenSince(document.ydoc, integrated),
    deleted,
    removed: [...removed, ...shown],
  });
  const ofThem = put.filter(({ side }) => side === "theirs");
  const sides = withPut({ mine: NONE, theirs }, ofThem);
  const { lines } = readMergedText(document.text, sides.mine, sides.theirs);
  const { spans } = document.captureText();
  const told = read.flatMap(({ news }) => news.map(({ id }) => id));
  const isRead = ({ from }: { readonly from: number }) =>
    isWrittenBefore(open, idAt(spans, from), told);
  const mended = mendedIn(update, theirs);
  const edits = findTakenBack(lines, { had, has: plainLines(has), isRead, mended });
  await tellTakenBack(context, open, { edits, sides, put });
}

function rangesOf(pieces: readonly RemovedText[]): IdRanges {
  const each = pieces.map(({ client, clock, text }): IdRanges => {
    return new Map([[client, [[clock, clock + text.length]]]]);
  });
  return each.reduce(union, NONE);
}

/**
 * The lines in an update that were written in the place of others of its own. Only such a line is a
 * version of what was deleted here: of a line that both have in the same characters the deletion
 * holds, whatever is written beside it.
 */
function mendedIn(update: Uint8Array, theirs: IdRanges): ReadonlySet<string> {
  const deleted = deletedIn(update);
  const isGone = (id: Y.ID | null) =>
    id !== null &&
    [theirs, deleted].every((each) => holdsAny(each, id.client, { clock: id.clock, length: 1 }));
  const written = Y.decodeUpdate(update).structs.flatMap((struct) => {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentString)) return [];
    const isMended = isGone(struct.origin) || isGone(struct.rightOrigin);
    return isMended ? plainLines(struct.content.str) : [];
  });
  return new Set(written);
}

/** What came into a document since, from others and by a clean-up. */
function writtenSince(ydoc: Y.Doc, integrated: IntegratedClocks): IdRanges {
  const now = Y.decodeStateVector(Y.encodeStateVector(ydoc));
  return new Map([...now].map(([client, end]) => [client, [[integrated.get(client) ?? 0, end]]]));
}

/** Whether the home that told of these commits had written a character by then, as far as known. */
function isWrittenBefore(
  { document }: OpenDocument,
  { client, clock }: CharacterId,
  told: readonly CharacterId[],
): boolean {
  const own = told.filter((each) => each.client === client);
  if (own.length > 0) return own.some((each) => clock < each.clock);
  const home = claimantOf(document, client);
  return home !== undefined && told.some((each) => claimantOf(document, each.client) === home);
}

/** The row by which the first of these entries came, and what was written behind it. */
async function readSince(
  db: Kysely<DaemonTables>,
  documentId: number,
  known: readonly Entry[],
): Promise<{ readonly seq: number; readonly written: IdRanges }> {
  const rows = await db
    .selectFrom("updates")
    .select(["seq", "payload"])
    .where("document_id", "=", documentId)
    .orderBy("seq")
    .execute();
  const metas = rows.map(({ seq, payload }) => ({ seq, ...Y.parseUpdateMeta(payload) }));
  const first = metas.findIndex(({ from, to }) => {
    return known.some(({ id: { client, clock } }) => {
      return (from.get(client) ?? clock + 1) <= clock && clock < (to.get(client) ?? 0);
    });
  });
  const written = metas.slice(first + 1).map(({ from, to }): IdRanges => {
    return new Map(
      [...from].map(([client, clock]) => [client, [[clock, to.get(client) ?? clock]]]),
    );
  });
  return { seq: metas[first]?.seq ?? 0, written: written.reduce(union, NONE) };
}
