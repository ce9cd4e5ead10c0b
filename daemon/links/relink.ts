import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { JsonValue } from "../../shared/json.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { Entry } from "../../shared/replica/document/entry-index.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import { endJoins, joinsIn, recordJoin } from "../../shared/replica/document/project-join.ts";
import { listRevisions, type Revision } from "../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { forgetFollowed } from "../files/state/follow-store.ts";
import { findHeld, listHeld, putHeld } from "../home/held-store.ts";
import type { Link } from "../home/links.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { copyHistory } from "../remotes/copy-history.ts";

/** A folder whose link has changed. */
interface Relinked {
  readonly former: Link | undefined;
  readonly link: Link;
  /** The project that its repository names; undefined where it names none. */
  readonly derivedId: ProjectId | undefined;
  /** False for another repository's project. */
  readonly bringsMemories: boolean;
}

/**
 * Copies a folder's memories when it is linked to another project, with their conflicts and
 * histories, and the folder's file meets the new document for the first time. Of a key that both
 * projects have all values stay, the latest first, as where two machines write it at once; of one
 * that was deleted there, the deletion stays as well.
 * The former project keeps what it has, and says where the folder went: other machines go on in it.
 * If it is bound to another remote, its memories stay there. Resolves to whether it says so.
 */
export async function moveToProject(
  context: WriteContext<DaemonTables>,
  account: AccountId,
  { former, link, derivedId, bringsMemories }: Relinked,
): Promise<boolean> {
  if (!former || former.projectId === link.projectId) return false;
  await forgetFollowed(context.db, link.dir);
  if (!bringsMemories) return false;
  if ((await findBinding(context.db, former.projectId)) !== account) return false;
  await moveHeld(context.db, account, { from: former.projectId, to: link.projectId });
  const from = await context.find(projectDocument(account, former.projectId));
  if (!from) return false;
  const to = await context.open(projectDocument(account, link.projectId));
  const join = { to: link.projectId, name: link.name, at: context.now, ...from.author };
  const back = joinsIn(to.document).filter((each) => {
    return each.of === (derivedId ?? link.projectId) && each.to === former.projectId;
  });
  endJoins(to.document, back);
  const of = derivedId ?? (back.length > 0 ? link.projectId : former.projectId);
  const isThere = !deletionOf(from.document);
  if (isThere) recordJoin(from.document, { of, ...join });
  // A row of its own: whatever is written there next stays on this machine.
  await context.flush(from);
  const missing = await entriesMissing(context, { source: from, target: to });
  await copyHistory(context, { source: from, target: to });
  for (const { key, value, now, past } of missing) {
    const there = to.document.memories.get(key);
    const seen = there.filter((each) => isAmong(past, each)).map(({ id }) => id);
    // Whoever deleted one here had not seen this one, and whoever wrote this had not seen that.
    const written = there.length === 0 ? { isBeforeDeletion: true } : { seen };
    to.document.setEntry("memories", key, { value, now, ...written });
  }
  return isThere;
}

/** Whether a value was written at the same time as a version that was replaced. */
function isAmong(past: readonly Revision[], { value, updated_at }: Entry): boolean {
  return past.some((each) => each.value === value && each.writtenAt === updated_at);
}

/** A value that another project does not have. */
interface Missing {
  readonly key: string;
  readonly value: JsonValue;
  readonly now: number;
  /** What was written over in the project that it comes from. */
  readonly past: readonly Revision[];
}

/** What a folder that goes back and forth has brought before is in the history there. */
async function entriesMissing(
  { db }: WriteContext<DaemonTables>,
  { source, target }: { readonly source: OpenDocument; readonly target: OpenDocument },
) {
  const missing: Missing[] = [];
  for (const key of source.document.memories.keys()) {
    const standing = target.document.memories.get(key).map(({ value }) => value);
    const name = { kind: "memory", key } as const;
    const there = await listRevisions(narrowTables(db), target.id, name);
    const past = await listRevisions(narrowTables(db), source.id, name);
    // Of equally late entries the one written last wins. Here that is the first of the list.
    for (const entry of [...source.document.memories.get(key)].reverse()) {
      const { value, updated_at: now } = entry;
      if (isAmong(there, entry) || standing.includes(value)) continue;
      missing.push({ key, value, now, past });
    }
  }
  return missing;
}

/** Moves what is held of the former project, unless something is held there already. */
async function moveHeld(
  db: Kysely<DaemonTables>,
  account: AccountId,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  for (const item of await listHeld(db, { account, document: from })) {
    const moved = { ...item, document: to };
    if (item.kind !== "memory" || (await findHeld(db, moved))) continue;
    await putHeld(db, { ...moved, seen: [] });
  }
}
