import { AppError } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { JsonValue } from "../../shared/json.ts";
import {
  type DocumentAddress,
  globalDocument,
  userDocument,
} from "../../shared/replica/document/address.ts";
import { type Entry, sameId } from "../../shared/replica/document/entry-index.ts";
import { REMOVED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { hasMemoryHistory } from "../../shared/replica/history/copy-history.ts";
import { NO_ROOM, type OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { hashOf } from "../disk/read-file.ts";
import { BEFORE_DELETIONS } from "../held/apply-held.ts";
import { type WhyHeld, whyMemoryHeld } from "../held/judge.ts";
import {
  dropHeld,
  findHeld,
  type HeldItem,
  listHeld,
  placeOf,
  putHeld,
} from "../home/held-store.ts";
import { LOCAL_USER } from "../home/local-account.ts";
import { isOfService } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { readSalvaged } from "../recovery/read-salvaged.ts";
import { writeUnsent } from "../recovery/salvaged-memories.ts";
import { copyHistory } from "./copy-history.ts";
import { keepOwner, refuseOwners } from "./refuse-owners.ts";

type Context = WriteContext<DaemonTables>;

/** The result of moving a layer's memories. All but `stayed` are at the new place. */
export interface MovedMemories {
  readonly moved: number;
  /** How many of them had another value there: both are kept, as a conflict. */
  readonly conflicts: number;
  /** How many of them are held there, as they were here or as they would be if written now. */
  readonly held: number;
  /** These were not moved, because another write of their key is held there. */
  readonly stayed: number;
}

/** A layer that belongs to no project. */
export type SharedLayer = Exclude<Layer, "project">;

/** From which account to which, and whether that may be another owner's. */
type MovedLayer = Parameters<typeof refuseOwners>[1];

interface Move {
  readonly source: OpenDocument;
  readonly target: OpenDocument;
  readonly now: number;
  /** What is held of the source document. */
  readonly held: readonly HeldItem[];
  /** The moved values of each key. */
  readonly values: Map<string, readonly JsonValue[]>;
}

/**
 * Moves the memories of a layer from one account's document to another's, with their conflicts and
 * histories and what is held or salvaged of them. They are deleted at their old place in the same
 * transaction, so a second run finds nothing. Of two different values of a key, the later one wins
 * and the other becomes a conflict. For a service each is judged as a write is. Values are written
 * anew: one process writes both documents under one client id, so an update of one must never get
 * into the other. Throws, and changes nothing, if they are known to be another owner's.
 */
export async function moveMemories(
  context: Context,
  layer: SharedLayer,
  { from, to, ofAnother }: MovedLayer,
): Promise<MovedMemories> {
  const move = from === to ? undefined : await openMove(context, layer, { from, to });
  if (!move) return { moved: 0, conflicts: 0, held: 0, stayed: 0 };
  const { source, held } = move;
  await refuseOwners(context.db, { from, to, ofAnother });
  await copyHistory(context, move);
  const moved = new Set<string>();
  const conflicts = new Set<string>();
  let kept = 0;
  const isSent = await isOfService(context.db, to);
  if (!isSent) await keepOwner(context.db, { from, to }, context.now);
  for (const key of [...source.document.memories.keys()]) {
    const deletion = held.find((item) => item.key === key && item.value === undefined);
    const standing = source.document.memories
      .get(key)
      .filter(({ id }) => !deletion?.seen.some((each) => sameId(each, id)));
    const withheld = isSent ? await withholdEntries(context, move, standing) : [];
    if (withheld.length > 0) kept++;
    const became = moveEntries(move, key, { standing, withheld });
    if (became !== "deleted") moved.add(key);
    if (became === "conflict") conflicts.add(key);
  }
  let stayed = 0;
  for (const item of held) {
    const became = await moveHeld(context, move, item);
    if (became === "stayed") stayed++;
    else if (item.value !== undefined) moved.add(item.key);
    if (became === "held") kept++;
  }
  return { moved: moved.size, conflicts: conflicts.size, held: kept, stayed };
}

/** Undefined where there is nothing to move. */
async function openMove(
  context: Context,
  layer: SharedLayer,
  { from, to }: { readonly from: AccountId; readonly to: AccountId },
): Promise<Move | undefined> {
  const { db, now } = context;
  const address = addressOf(layer, from);
  const place = { account: address.owner, document: address.name };
  const held = (await listHeld(db, place)).filter(({ kind }) => kind === "memory");
  const salvaged = await readSalvaged(db, place);
  const found = await context.find(address);
  const isEmpty =
    !found ||
    ([...found.document.memories.keys()].length === 0 &&
      !(await hasMemoryHistory(narrowTables(db), found.id)));
  if (isEmpty && held.length === 0 && salvaged.length === 0) return undefined;
  const source = found ?? (await context.open(address));
  await writeUnsent(db, source, place);
  const target = await context.open(addressOf(layer, to));
  if (target.isFull) throw new AppError("invalid_request", `nothing was moved: ${NO_ROOM}`);
  return { source, target, now, held, values: new Map() };
}

function addressOf(layer: SharedLayer, owner: AccountId): DocumentAddress {
  return layer === "user" ? userDocument(owner, LOCAL_USER) : globalDocument(owner);
}

/** Holds of a key what must not come to the new place. What is held of it is shown as before. */
async function withholdEntries(
  { db }: Context,
  { target, held }: Move,
  entries: readonly Entry[],
): Promise<readonly Entry[]> {
  const withheld: Entry[] = [];
  for (const [nth, entry] of entries.entries()) {
    const { key } = entry;
    const there = target.document.memories.get(key);
    const already = there.map(({ value }) => String(value));
    const isShown = held.some((item) => item.key === key && item.shown);
    const memory = { key, value: String(entry.value) };
    const why = await whyMemoryHeld(db, target, { memory, already });
    if (!why) continue;
    withheld.push(entry);
    // Of two that are equal the later one counts, which was held already.
    if (withheld.some((each) => each !== entry && each.value === entry.value)) continue;
    const isLatest = nth === 0 && there.every(({ updated_at }) => updated_at < entry.updated_at);
    await holdEntry(db, target, { entry, why, isLatest: isLatest && !isShown });
  }
  return withheld;
}

/**
 * Moves what stands of a key and is not withheld. What tells that somebody has deleted the memory
 * stays a question beside it.
 */
function moveEntries(
  { source, target, now: movedAt, values: all }: Move,
  key: string,
  { standing, withheld }: Readonly<Record<"standing" | "withheld", readonly Entry[]>>,
): "moved" | "conflict" | "deleted" {
  const entries = standing.filter((each) => !withheld.includes(each));
  const there = target.document.memories.get(key);
  const known = there.map(({ value }) => value);
  // Of equally late entries the one written last wins. Here that is the first of the list.
  for (const { value, created_at: createdAt, updated_at: now } of [...entries].reverse()) {
    const same = there.filter((each) => each.value === value);
    if (same.some(({ updated_at }) => updated_at >= now)) continue;
    // Its author saw no deletion there.
    const write = { value, createdAt, now, isBeforeDeletion: true };
    target.document.setEntry("memories", key, { ...write, seen: same.map(({ id }) => id) });
  }
  const told = entries.length > 0 ? source.document.deletionsOf(key) : [];
  for (const { value, created_at: createdAt, updated_at: now } of [...told].reverse()) {
    const write = { value, createdAt, now, seen: [] };
    target.document.setEntry("metadata", REMOVED_PREFIX + key, write);
  }
  source.deleteMemory({ key, now: movedAt });
  if (entries.length === 0) return standing.length === 0 ? "deleted" : "moved";
  const values = entries.map(({ value }) => value);
  all.set(key, values);
  const differs = known.length > 0 && [...known, ...values].some((value) => value !== values[0]);
  return differs ? "conflict" : "moved";
}

/** What the former service refused may suit this one, so each held write is checked again. */
async function moveHeld(
  { db }: Context,
  { target, values }: Move,
  item: HeldItem,
): Promise<"moved" | "held" | "stayed"> {
  const { kind, apart, shown } = item;
  const place = { ...placeOf(target), kind, key: item.key, apart };
  const other = await findHeld(db, place);
  if (other && other.value !== item.value) return "stayed";
  await dropHeld(db, item);
  if (other) return "held";
  if (item.value === undefined) return "moved";
  const { key, value, cause, reason } = item;
  const entries = target.document.memories.get(key);
  const current = entries.map((entry) => String(entry.value));
  // Its author saw what was moved, and nothing else at the new place.
  const seen = entries.filter((each) => values.get(key)?.includes(each.value)).map(({ id }) => id);
  const why =
    cause === "refused"
      ? await whyMemoryHeld(db, target, { memory: { key, value }, already: current })
      : { cause, reason };
  if (why) {
    await putHeld(db, { ...place, value, seen, shown, writtenAt: item.writtenAt, ...why });
    return "held";
  }
  const write = { value, now: item.writtenAt, seen, isBeforeDeletion: true };
  target.document.setEntry("memories", key, write);
  return "moved";
}

/**
 * Holds a value of a memory. What is held of the key is shown as before. Whoever wrote the value
 * has not seen what was deleted there.
 */
async function holdEntry(
  db: Context["db"],
  open: OpenDocument,
  {
    entry: { key, value: stored, updated_at: writtenAt },
    why,
    isLatest,
  }: { readonly entry: Entry; readonly why: WhyHeld; readonly isLatest: boolean },
): Promise<void> {
  const value = String(stored);
  const place = { ...placeOf(open), kind: "memory", key } as const;
  const shown = isLatest && !(await findHeld(db, place));
  const apart = shown ? undefined : hashOf(value);
  await putHeld(db, { ...place, apart, value, seen: BEFORE_DELETIONS, shown, writtenAt, ...why });
}
