import type { Kysely } from "kysely";
import * as Y from "yjs";
import { type Entry, sameId } from "../../shared/replica/document/entry-index.ts";
import { COMMIT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { claimantOf } from "../../shared/replica/log/homes.ts";
import { readMergedText } from "../../shared/replica/merge/merged-lines.ts";
import { readSideLines } from "../../shared/replica/merge/side-lines.ts";
import { findTakenBack } from "../../shared/replica/merge/taken-back.ts";
import { tellTakenBack } from "../../shared/replica/merge/text-conflicts.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { type IdRanges, union } from "../../shared/replica/text/id-ranges.ts";
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
  readonly theirs: IdRanges;
}

/**
 * Two machines that read one commit while no service answered both wrote its lines. One that was
 * deleted here since stands again by what the other wrote, and that is told here, by the machine
 * that deleted it: once the deletion is sent a service keeps nothing of what it said. Belongs
 * behind all else that tells of the meeting.
 */
export async function tellReadApart(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  { commits, has, theirs }: Arrived,
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
  const gone = removed.map(({ client, clock, text }): IdRanges => {
    return new Map([[client, [[clock, clock + text.length]]]]);
  });
  const deleted = { mine: gone.reduce(union, NONE), theirs: NONE, both: NONE };
  const had = readSideLines(document.text, { mine: since.written, theirs, deleted, removed });
  const sides = { mine: NONE, theirs };
  const { lines } = readMergedText(document.text, sides.mine, sides.theirs);
  const { spans } = document.captureText();
  const told = read.flatMap(({ news }) => news.map(({ id }) => id));
  const isRead = ({ from }: { readonly from: number }) =>
    isWrittenBefore(open, idAt(spans, from), told);
  const edits = findTakenBack(lines, { had, has: plainLines(has), isRead });
  await tellTakenBack(context, open, { edits, sides });
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
