import type { Kysely } from "kysely";
import type { JsonValue } from "../../shared/json.ts";
import type { DaemonTables } from "../home/tables.ts";
import {
  dropRefused,
  hashOfValue,
  type ItemKind,
  itemName,
  putRefused,
  type RefusedItem,
  type RefusedKind,
} from "./plain-store.ts";
import type { Untakable } from "./reading.ts";

type Db = Kysely<DaemonTables>;

/** One part of what a service is sent. The value null removes a metadata key. */
export interface SendItem {
  readonly kind: ItemKind | "text";
  /** Empty for the text. */
  readonly key: string;
  readonly value: JsonValue;
}

/** A memory to delete, by the id that the service gave; null where it gave none. */
export interface Removal {
  readonly key: string;
  readonly id: string | null;
}

/** What a service is to be told. */
interface Wanted {
  readonly items: readonly SendItem[];
  readonly removals: readonly Removal[];
  /** Must not be overwritten. */
  readonly untakable?: readonly Untakable[];
}

/**
 * The parts of `wanted` that may be sent: those that the service has not refused with the same
 * value. A refusal is dropped once its value has changed or is no longer wanted.
 */
export async function keepRefused(
  db: Db,
  documentId: number,
  { refused, wanted }: { readonly refused: readonly RefusedItem[]; readonly wanted: Wanted },
): Promise<Wanted> {
  const { untakable = [] } = wanted;
  const known = new Map(refused.map((each) => [itemName(each.kind, each.key), each]));
  const left = new Set(untakable.map(({ kind, key }) => itemName(kind, key)));
  const isLeft = (kind: RefusedKind, key: string) => left.has(itemName(kind, key));
  const kept = new Set(left);
  const isKept = (kind: RefusedKind, key: string, value: JsonValue) => {
    const name = itemName(kind, key);
    const { hash, reason } = known.get(name) ?? {};
    const same = hash === hashOfValue(value) && reason?.code !== "untakable";
    if (same) kept.add(name);
    return same;
  };
  const items = wanted.items.filter(
    ({ kind, key, value }) => !isLeft(kind, key) && !isKept(kind, key, value),
  );
  const removals = wanted.removals.filter(
    ({ key, id }) => !isLeft("memories", key) && !isKept("deletion", key, id),
  );
  for (const each of refused) {
    if (!kept.has(itemName(each.kind, each.key))) await dropRefused(db, documentId, each);
  }
  for (const { kind, key } of untakable) {
    if (known.get(itemName(kind, key))?.reason.code === "untakable") continue;
    const hash = hashOfValue(null);
    await putRefused(db, documentId, { kind, key, hash, reason: { code: "untakable" } });
  }
  for (const { key, id } of removals) {
    if (id !== null) continue;
    const hash = hashOfValue(null);
    await putRefused(db, documentId, { kind: "deletion", key, hash, reason: { code: "no-id" } });
  }
  return { items, removals: removals.filter(({ id }) => id !== null) };
}
