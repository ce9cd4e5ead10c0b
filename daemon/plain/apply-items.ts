import type { JsonValue } from "../../shared/json.ts";
import { equalJson } from "../../shared/json.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import {
  noteForeignDeletion,
  removeMemory,
} from "../../shared/replica/document/memory-deletion.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import {
  type AgreedItem,
  type ItemSides,
  type MergedItems,
  mergeItems,
  type TheirItem,
  withSent,
} from "./merge-items.ts";
import { type ItemKind, itemName, type SentValue } from "./plain-store.ts";
import type { ReadItems } from "./reading.ts";
import { sentIndex } from "./sent-values.ts";

/** What was agreed about the service's items before. */
type Known = { readonly [kind in ItemKind]: ReadonlyMap<string, AgreedItem> } & {
  readonly sent: readonly SentValue[];
};

const NOT_SHOWN: ReadItems = { items: new Map<string, TheirItem>(), complete: false };

/**
 * Merges a document's items with those that the service showed (undefined: it shows none), and
 * writes the result into the document as edits of this machine.
 */
export function applyItems(
  document: ReplicaDocument,
  kind: ItemKind,
  {
    known,
    shown = NOT_SHOWN,
    putBack,
    now,
  }: {
    readonly known: Known;
    readonly shown?: ReadItems | undefined;
    readonly putBack: boolean;
    readonly now: number;
  },
): MergedItems {
  const isSent = sentIndex(known.sent);
  const base = withSent(known[kind], shown.items, (key, value) => {
    return isSent(itemName(kind, key), value);
  });
  const mine = itemsOf(document, kind);
  const sides: ItemSides = {
    base,
    mine,
    theirs: shown.items,
    complete: shown.complete,
    putBack,
  };
  const merged = mergeItems(sides);
  document.change("local", () => {
    for (const key of merged.drop) {
      if (kind === "memories") removeMemory(document, { key, now, elsewhere: true });
      else document.deleteEntry(kind, key);
    }
    for (const { key, value } of merged.take) {
      applyValue(document, kind, { key, value, agreed: base.get(key)?.value, now });
    }
    if (kind === "memories")
      for (const key of merged.undone) noteForeignDeletion(document, key, now);
  });
  return merged;
}

/** The items of one kind in a document that others may see: the winner of each key. */
export function itemsOf(document: ReplicaDocument, kind: ItemKind): Map<string, JsonValue> {
  const index = kind === "memories" ? document.memories : document.metadata;
  const items = new Map<string, JsonValue>();
  for (const key of index.keys()) {
    const [winner] = index.get(key);
    if (winner && (kind === "memories" || isPublicKey(key))) items.set(key, winner.value);
  }
  return items;
}

/**
 * Writes the service's value. Its author saw the agreed value, so that one is replaced. A value
 * here that the service never had stays beside it as a conflict.
 */
function applyValue(
  document: ReplicaDocument,
  kind: ItemKind,
  {
    key,
    value,
    agreed,
    now,
  }: {
    readonly key: string;
    readonly value: JsonValue;
    readonly agreed: JsonValue | undefined;
    readonly now: number;
  },
): void {
  const index = kind === "memories" ? document.memories : document.metadata;
  const current = index.get(key);
  const seen = current.filter((entry) => {
    return (
      equalJson(entry.value, value) || (agreed !== undefined && equalJson(entry.value, agreed))
    );
  });
  const latest = Math.max(now, ...current.map(({ updated_at: at }) => at + 1));
  document.setEntry(kind, key, {
    value,
    now: latest,
    seen: seen.map(({ id }) => id),
    isBeforeDeletion: agreed !== undefined,
  });
}
