import type { Kysely } from "kysely";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import type { NewTextConflict, NewVersion } from "../conflicts/text-conflict-record.ts";
import type { Author } from "../document/author.ts";
import { claimantOf } from "../log/homes.ts";
import { machineOf } from "../log/machines.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { OpenDocument } from "../store/open-document.ts";
import type { WriteContext } from "../store/write-context.ts";
import { neighbourStart } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import { clientAt } from "../text/text-spans.ts";
import type { CrossedDeletion } from "./crossed-deletions.ts";
import type { MetTexts } from "./doubles.ts";
import type { KeptEdit, MovedApart, MovedTwice } from "./kept-edits.ts";
import type { RivalHeadings } from "./rival-headings.ts";
import type { SideLine } from "./side-lines.ts";

/** The author that a client is; the client may be this process. */
export function authorOf(
  replica: Kysely<ReplicaTables>,
  open: OpenDocument,
  client: number,
): Author {
  const { id, document, writer } = open;
  if (client === writer.clientId) return open.author;
  const machine = machineOf(replica, id, { document, client });
  return { machine, home: claimantOf(document, client) };
}

/** The conflict of a place that both sides changed differently. */
export function bothConflict<Tables extends ReplicaTables>(
  { db }: WriteContext<Tables>,
  open: OpenDocument,
  { mine, theirs, theirClient }: MetTexts,
): NewTextConflict {
  const replica: Kysely<ReplicaTables> = narrowTables(db);
  const versions = [
    { ...mine, ...open.author },
    { ...theirs, ...authorOf(replica, open, theirClient) },
  ] as const;
  return { kind: "both", versions };
}

/** The conflict of a kept edit. Who deleted what was there is known only if it was this machine. */
export function keptConflict<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  edit: KeptEdit,
): NewTextConflict {
  const deleter = edit.by === "mine" ? { machine: undefined } : open.author;
  const kept = keptVersion(context, open, [edit]);
  return { kind: "both", versions: [kept, { text: "", ...deleter }] };
}

/** The notice that one side deleted what the other perhaps moved. */
export function crossedConflict(
  open: OpenDocument,
  { by, text, behind, ahead }: CrossedDeletion,
): NewTextConflict {
  const deleter = by === "mine" ? open.author : { machine: undefined };
  const deleted = { text, machine: undefined, places: [{ behind, text, ahead }] };
  const lines = plainLines(text).filter((line) => line.trim() !== "").length;
  return { kind: "deletion", versions: [deleted, { text: "", ...deleter }], lines };
}

/** The conflict of lines that are gone though neither side deleted them; nobody is named for it. */
export function missingConflict<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  edit: KeptEdit,
): NewTextConflict {
  const both = keptVersion(context, open, [edit]);
  return { kind: "both", versions: [both, { text: "", machine: undefined }] };
}

/**
 * The conflict of two names of a section. To be called before the names are put beside each other.
 */
export function rivalConflict<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  { lines, rival, ahead, all }: RivalHeadings & { readonly all: readonly SideLine[] },
): NewTextConflict {
  const standing = all.filter((line) => line.to > line.from && !lines.includes(line));
  const before = standing.slice(0, standing.indexOf(rival[0] as SideLine)).map(({ text }) => text);
  const behind = before.slice(neighbourStart(before, before.length)).join("");
  const versionOf = (name: readonly SideLine[]) => {
    const text = name.map((line) => line.text).join("");
    const [{ side, from } = { side: "base", from: 0 }] = name;
    const by = side === "mine" ? side : "theirs";
    return keptVersion(context, open, [{ by, text, behind, ahead: ahead.text, at: from }]);
  };
  return { kind: "both", versions: [versionOf(lines), versionOf(rival)] };
}

/** The conflict of lines that both sides moved, or wrote, and that stand at two places. */
export function twiceConflict<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  { mine, theirs }: MovedTwice,
): NewTextConflict {
  return {
    kind: "twice",
    versions: [keptVersion(context, open, mine), keptVersion(context, open, theirs)],
  };
}

/** The conflict of what both sides made of the same lines, and put at different places. */
export function carriedConflict<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  { mine, theirs }: MovedTwice,
): NewTextConflict {
  return {
    kind: "both",
    versions: [keptVersion(context, open, mine), keptVersion(context, open, theirs)],
  };
}

/** The conflict of lines that stand at one place, and that the other side had at another. */
export function apartConflict<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  { standing, other }: MovedApart,
): NewTextConflict {
  const stands = { ...keptVersion(context, open, [standing]), isStanding: true };
  return { kind: "moved", versions: [stands, keptVersion(context, open, [other])] };
}

/** What one side has at its places, with its author: this machine, or the one that wrote it. */
export function keptVersion<Tables extends ReplicaTables>(
  { db }: WriteContext<Tables>,
  open: OpenDocument,
  edits: readonly KeptEdit[],
): NewVersion {
  const { document, writer } = open;
  const { spans } = document.captureText();
  const clients = new Set(edits.map(({ at, writer }) => writer ?? clientAt(spans, at)));
  const isHere = edits.every(({ by }) => by === "mine") || clients.has(writer.clientId);
  const [client = 0] = clients;
  const replica: Kysely<ReplicaTables> = narrowTables(db);
  return {
    text: edits.map(({ text }) => text).join(""),
    ...(isHere ? open.author : authorOf(replica, open, client)),
    places: edits.map(({ behind, text, ahead, after }) => ({
      behind,
      text,
      ahead,
      ...(after !== undefined && after > 0 && { after }),
    })),
  };
}
