import type { Kysely } from "kysely";
import type { Entry } from "../../../shared/replica/document/entry-index.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import { machineOf } from "../../../shared/replica/log/machines.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import { linesWithout } from "../../files/arrivals/unseen-lines.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { keyOfName } from "./memory-names.ts";
import type { MemoryRead, MemoryText } from "./read-memory-folder.ts";

type Db = WriteContext<DaemonTables>["db"];

/** An earlier version of a memory that stands in its file again. */
interface PutBackText {
  /** What others changed since, and what it would take away. */
  readonly since: readonly CameLine[];
  /** It is as old as that version, whatever the file's time says. */
  readonly savedAt: number;
}

interface SavedText {
  readonly key: string;
  readonly former: MemoryFile | undefined;
  readonly file: MemoryText;
  /** Who takes a single line of others' out of an index means it, unless more is put back. */
  readonly mayBeSingle: boolean;
}

/** A folder's files as they are, and as they were taken last. */
interface LookedAt {
  readonly seen: {
    readonly files: ReadonlyMap<string, MemoryRead>;
    readonly format: FolderFormat;
  };
  readonly known: ReadonlyMap<string, MemoryFile>;
}

/** Whether a topic of a folder is not as it was taken last. */
export function hasChangedTopic({ seen: { files, format }, known }: LookedAt): boolean {
  return [...files].some(([name, file]) => {
    const former = known.get(name);
    const isKnown = name !== format.index && file.kind === "text" && former !== undefined;
    return isKnown && file.hash !== former.hash;
  });
}

/** Whether a topic of a folder is put back, so that its index may be as well. */
export async function isTopicPutBack(
  db: Db,
  open: OpenDocument,
  { seen: { files, format }, known }: LookedAt,
): Promise<boolean> {
  for (const [name, file] of files) {
    if (name === format.index || file.kind !== "text") continue;
    const former = known.get(name);
    const saved = { key: keyOfName(format, name), former, file, mayBeSingle: false };
    if (await findPutBack(db, open, saved)) return true;
  }
  return false;
}

/**
 * Whether a saved text is an earlier version, since which others have changed something that it
 * takes away: somebody may have put a copy of the folder back, or have taken just that out. Who
 * undoes his own edits means it; so does who saves what stands beside the memory already. What
 * stands in a conflict is not lost.
 */
export async function findPutBack(
  db: Db,
  open: OpenDocument,
  { key, former, file, mayBeSingle }: SavedText,
): Promise<PutBackText | undefined> {
  const { content, hash, savedAt } = file;
  const isEdit = former !== undefined && former.hash !== hash && former.next?.hash !== hash;
  const standing = open.document.memories.get(key);
  const [current] = standing;
  if (!isEdit || !current || standing.some(({ value }) => value === content)) return undefined;
  const revisions = await listRevisions(db, open.id, { kind: "memory", key });
  const at = revisions.findIndex(({ value }) => value === content);
  const version = revisions[at];
  if (version === undefined) return undefined;
  const own = open.writer.machine;
  const others = [
    ...standing
      .filter((entry) => machineThatWrote(db, open, entry) !== own)
      .map(({ value }) => `${value}`),
    ...revisions.slice(0, at).flatMap(({ machine, value }) => (machine === own ? [] : [value])),
  ].map((text) => new Set(plainLines(text)));
  const [shown, saved] = [plainLines(former.text), plainLines(content)];
  const beside = new Set(standing.slice(1).flatMap(({ value }) => plainLines(`${value}`)));
  const isText = (line: string) => line.trim() !== "";
  const taken = linesWithout(shown, saved)
    .filter((line) => isText(line) && !beside.has(line) && others.some((lines) => lines.has(line)))
    .map((line) => ({ line, isOwn: false, isGone: false }));
  const returned = linesWithout(saved, shown)
    .filter((line) => isText(line) && others.some((lines) => !lines.has(line)))
    .map((line) => ({ line, isOwn: false, isGone: true }));
  const since = [...taken, ...returned].map((each) => ({ ...each, id: -1, at: savedAt }));
  const isSingle = mayBeSingle && since.length === 1 && taken.length === 1;
  if (since.length === 0 || isSingle) return undefined;
  return { since, savedAt: Math.min(savedAt, version.writtenAt, current.updated_at - 1) };
}

/** The machine that wrote an entry. */
export function machineThatWrote(
  db: Db,
  { id, document }: OpenDocument,
  entry: Entry,
): string | undefined {
  const replica: Kysely<ReplicaTables> = narrowTables(db);
  return machineOf(replica, id, { document, client: entry.id.client });
}
