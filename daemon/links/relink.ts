import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { JsonValue } from "../../shared/json.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { Entry, EntryId } from "../../shared/replica/document/entry-index.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import {
  endJoins,
  hadBy,
  isBeforeKnown,
  joinsIn,
  type ProjectJoin,
  recordJoin,
  vectorOf,
  writtenBy,
} from "../../shared/replica/document/project-join.ts";
import { listRevisions, type Revision } from "../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { hashOf } from "../disk/read-file.ts";
import { forgetFollowed } from "../files/state/follow-store.ts";
import { BEFORE_DELETIONS } from "../held/apply-held.ts";
import { type WhyHeld, whyMemoryHeld } from "../held/judge.ts";
import { findHeld, type HeldDocument, listHeld, placeOf, putHeld } from "../home/held-store.ts";
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

/** A folder went to another project, or back to its own, which other machines are told. */
export interface FolderMove {
  readonly kind: "join" | "return";
  /**
   * False for a return after a join that does not say what the other project had before: nothing
   * tells what was written there since, and no memory came.
   */
  readonly isPastKnown: boolean;
  /**
   * Of a return: memories of the other project that this machine has heard of since the folder
   * came, and that say that they were written before. They stay there, and one of them may have
   * been written meanwhile on a machine whose clock is behind.
   */
  readonly undated: readonly string[];
  /** Of a return: memories that were deleted in the other project, and stand in this one. */
  readonly deleted: readonly string[];
}

/**
 * Copies a folder's memories when it is linked to another project, with their conflicts and
 * histories, and the folder's file meets the new document for the first time. Of a key that both
 * projects have all values stay, the latest first, as where two machines write it at once; of one
 * that was deleted there, the deletion stays as well. Each is judged, as any write to that project
 * is: what was allowed for the former one alone is held.
 * The former project keeps what it has, and says where the folder went: other machines go on in it.
 * A folder that goes back leaves behind what the other project had before the folder came, and all
 * of it where that is not known.
 * If it is bound to another remote, its memories stay there. Resolves to undefined where other
 * machines are told nothing.
 */
export async function moveToProject(
  context: WriteContext<DaemonTables>,
  account: AccountId,
  { former, link, derivedId, bringsMemories }: Relinked,
): Promise<FolderMove | undefined> {
  if (!former || former.projectId === link.projectId) return undefined;
  await forgetFollowed(context.db, link.dir);
  if (!bringsMemories) return undefined;
  if ((await findBinding(context.db, former.projectId)) !== account) return undefined;
  const to = await context.open(projectDocument(account, link.projectId));
  const from = await context.find(projectDocument(account, former.projectId));
  const back = joinsIn(to.document).filter((each) => {
    const isOwn = each.isReturn || each.of === (derivedId ?? link.projectId);
    return isOwn && each.to === former.projectId;
  });
  const told = from && findReturn(from.document, { of: derivedId, to: link.projectId });
  const returned = back.find((each) => !each.isReturn) ?? told;
  const left = returned && leftBy(returned);
  const isPastKnown = !returned || isBeforeKnown(returned);
  if (isPastKnown) {
    const since = returned ? joinedAtOf(returned) : 0;
    await copyHeld(context.db, to, { account, document: former.projectId, since });
  }
  if (!from) return undefined;
  endJoins(to.document, back);
  const isReturn = returned !== undefined;
  const of = derivedId ?? (isReturn ? link.projectId : former.projectId);
  const isThere = !deletionOf(from.document);
  const join = { of, to: link.projectId, name: link.name, at: context.now, ...from.author };
  const before = vectorOf(to.document);
  const deleted = left ? await deletedIn(context, { source: from, target: to }) : [];
  const sides = { source: from, target: to, left };
  const { missing, undated } = await entriesMissing(context, sides);
  if (isPastKnown) await copyHistory(context, { source: from, target: to });
  const brought = await writtenBy(to.document, () => bringAll(context, to, missing));
  // What it has brought when it was there before is not brought again.
  const earlier = back.flatMap((each) => each.brought ?? []);
  const past = isReturn
    ? { ...pastOf(returned), isReturn, joinedAt: joinedAtOf(returned) }
    : { before, brought: [...earlier, ...brought] };
  if (isThere) recordJoin(from.document, { ...join, ...past });
  // A row of its own: whatever is written there next stays on this machine.
  await context.flush(from);
  if (!isThere) return undefined;
  return { kind: isReturn ? "return" : "join", isPastKnown, undated, deleted };
}

const pastOf = ({ before, brought }: ProjectJoin) => ({ before, brought });

const joinedAtOf = ({ joinedAt, at }: ProjectJoin) => joinedAt ?? at;

/** Why an entry stays in the other project; undefined for what was written there since. */
type WhyLeft = (entry: Entry) => "had" | "undated" | undefined;

/**
 * Tells what the other project had, or got by others, before the folder came. This machine may have
 * heard of it only afterwards, and what it had heard of then may be of a fast clock: either counts.
 * Where the join does not say what was there, it may have had anything.
 */
function leftBy(join: ProjectJoin): WhyLeft {
  const had = hadBy(join.before);
  return ({ id, updated_at: at }) => {
    if (!had || had(id)) return "had";
    return at < joinedAtOf(join) ? "undated" : undefined;
  };
}

/** Memories that both projects had, and that somebody has deleted in `source` alone. */
async function deletedIn(
  { db }: WriteContext<DaemonTables>,
  { source, target }: { readonly source: OpenDocument; readonly target: OpenDocument },
): Promise<string[]> {
  const deleted: string[] = [];
  for (const key of target.document.memories.keys()) {
    if (source.document.memories.get(key).length > 0) continue;
    const past = await listRevisions(narrowTables(db), source.id, { kind: "memory", key });
    const isKnown = target.document.memories.get(key).some((each) => isAmong(past, each));
    if (isKnown) deleted.push(key);
  }
  return deleted;
}

/** Writes what is missing there, but for what is held. */
async function bringAll(
  context: WriteContext<DaemonTables>,
  to: OpenDocument,
  missing: readonly Missing[],
): Promise<void> {
  const held: HeldEntry[] = [];
  for (const each of missing) {
    const why = await whyEntryHeld(context.db, to, each);
    if (why) held.push({ ...each, why });
    else bring(to, each);
  }
  // The latest first: it is the one that is shown.
  for (const each of held.reverse()) await hold(context.db, to, each);
}

/** Another machine's folder has gone back to its project, which those that followed are told. */
function findReturn(
  document: ReplicaDocument,
  { of, to }: { readonly of: ProjectId | undefined; readonly to: ProjectId },
): ProjectJoin | undefined {
  return joinsIn(document).find((each) => {
    return each.isReturn && each.to === to && each.of === (of ?? to);
  });
}

function bring(to: OpenDocument, { key, value, now, past }: Missing): void {
  const there = to.document.memories.get(key);
  // Whoever deleted one here had not seen this one, and whoever wrote this had not seen that.
  const written = there.length === 0 ? { isBeforeDeletion: true } : { seen: seenOf(there, past) };
  to.document.setEntry("memories", key, { value, now, ...written });
}

/** What the author of a value has written over, in the one project or in the other. */
function seenOf(there: readonly Entry[], past: readonly Revision[]): EntryId[] {
  return there.filter((each) => isAmong(past, each)).map(({ id }) => id);
}

async function whyEntryHeld(
  db: Kysely<DaemonTables>,
  to: OpenDocument,
  { key, value }: Missing,
): Promise<WhyHeld | undefined> {
  const already = to.document.memories.get(key).map((each) => String(each.value));
  return await whyMemoryHeld(db, to, { memory: { key, value: String(value) }, already });
}

interface HeldEntry extends Missing {
  readonly why: WhyHeld;
}

/** What is held there already, or was written there later, is shown as before. */
async function hold(
  db: Kysely<DaemonTables>,
  to: OpenDocument,
  { key, value: stored, now, past, why }: HeldEntry,
): Promise<void> {
  const value = String(stored);
  const there = to.document.memories.get(key);
  const place = { ...placeOf(to), kind: "memory", key } as const;
  const other = await findHeld(db, place);
  if (other?.value === value) return;
  const shown = !other && there.every(({ updated_at }) => updated_at < now);
  const apart = shown ? undefined : hashOf(value);
  // Whoever wrote it had not seen what was deleted there, as where it comes by itself.
  const seen = [...BEFORE_DELETIONS, ...seenOf(there, past)];
  await putHeld(db, { ...place, apart, value, seen, shown, writtenAt: now, ...why });
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

/**
 * What a folder that goes back and forth has brought before is in the history there. `left`: which
 * entries were there before the folder came, which now goes back without them.
 */
async function entriesMissing(
  { db }: WriteContext<DaemonTables>,
  {
    source,
    target,
    left,
  }: {
    readonly source: OpenDocument;
    readonly target: OpenDocument;
    readonly left: WhyLeft | undefined;
  },
) {
  const missing: Missing[] = [];
  const undated = new Set<string>();
  for (const key of source.document.memories.keys()) {
    const standing = target.document.memories.get(key).map(({ value }) => value);
    const name = { kind: "memory", key } as const;
    const there = await listRevisions(narrowTables(db), target.id, name);
    const past = await listRevisions(narrowTables(db), source.id, name);
    // Of equally late entries the one written last wins. Here that is the first of the list.
    for (const entry of [...source.document.memories.get(key)].reverse()) {
      const { value, updated_at: now } = entry;
      if (isAmong(there, entry) || standing.includes(value)) continue;
      const why = left?.(entry);
      if (why === "undated") undated.add(key);
      if (why !== undefined) continue;
      missing.push({ key, value, now, past });
    }
  }
  return { missing, undated: [...undated] };
}

/**
 * What is held of the former project's memories is held of the other one's, unless something is
 * held there already. What may be private there is not tried again at its service. What was held
 * before `since` stays.
 */
async function copyHeld(
  db: Kysely<DaemonTables>,
  to: OpenDocument,
  { since, ...from }: HeldDocument & { readonly since: number },
): Promise<void> {
  for (const item of await listHeld(db, from)) {
    const { key, value, writtenAt } = item;
    if (writtenAt < since) continue;
    const place = { ...item, ...placeOf(to) };
    if (item.kind !== "memory" || (await findHeld(db, place))) continue;
    const entries = to.document.memories.get(key).map((each) => String(each.value));
    // A folder that goes back brings what stands, or has stood, there.
    const past = await listRevisions(narrowTables(db), to.id, { kind: "memory", key });
    const stood = [...entries, ...past.map((each) => each.value)];
    if (value !== undefined && stood.includes(value)) continue;
    const why =
      value === undefined
        ? undefined
        : await whyMemoryHeld(db, to, { memory: { key, value }, already: entries });
    const isPrivate = why?.cause === "private" ? { ...why, retryBatch: undefined } : {};
    await putHeld(db, {
      ...place,
      seen: value === undefined ? [] : BEFORE_DELETIONS,
      ...isPrivate,
    });
  }
}
