import type { JsonValue } from "../../shared/json.ts";
import { type ReplicaDocument, TEXT_FORM_KEY } from "../../shared/replica/document/document.ts";
import { type Entry, sameId } from "../../shared/replica/document/entry-index.ts";
import { isWriterKey } from "../../shared/replica/log/machines.ts";
import type { HeldWrite } from "../home/held-store.ts";

/** A write of this machine that the service does not have. */
export type UnsentWrite = Pick<
  HeldWrite,
  "kind" | "key" | "value" | "seen" | "base" | "writtenAt"
> & {
  readonly kind: "memory" | "metadata" | "text";
  /** Losing versions that the service does not have either, newest first. */
  readonly losers: readonly Entry[];
};

/**
 * What `mine` has and `theirs` lacks, as writes that turn `theirs` into `mine`. `mine` must contain
 * all of `theirs`. Several writes of one key become one.
 */
export function unsentWrites(
  mine: ReplicaDocument,
  theirs: ReplicaDocument,
  now: number,
): UnsentWrite[] {
  const base = theirs.content();
  const value = mine.content();
  const text = {
    kind: "text",
    key: "",
    value,
    base,
    seen: [],
    losers: [],
    writtenAt: now,
  } as const;
  return [
    ...unsentEntries("memory", mine, { theirs, now }),
    ...unsentEntries("metadata", mine, { theirs, now }),
    ...(value === base ? [] : [text]),
  ];
}

function unsentEntries(
  kind: "memory" | "metadata",
  mine: ReplicaDocument,
  { theirs, now }: { readonly theirs: ReplicaDocument; readonly now: number },
): UnsentWrite[] {
  const index = kind === "memory" ? "memories" : "metadata";
  const writes: UnsentWrite[] = [];
  for (const key of new Set([...mine[index].keys(), ...theirs[index].keys()])) {
    // All are written again automatically.
    if (kind === "metadata" && (isWriterKey(key) || key === TEXT_FORM_KEY)) continue;
    const here = mine[index].get(key);
    const there = theirs[index].get(key);
    const [added, ...losers] = here.filter(
      (entry) => !there.some(({ id }) => sameId(id, entry.id)),
    );
    const gone = there.filter((entry) => !here.some(({ id }) => sameId(id, entry.id)));
    if (!added && gone.length === 0) continue;
    writes.push({
      kind,
      key,
      value: added && heldValue(kind, added.value),
      seen: gone.map(({ id }) => id),
      losers: kind === "memory" ? losers : [],
      writtenAt: added?.updated_at ?? now,
    });
  }
  return writes;
}

function heldValue(kind: "memory" | "metadata", value: JsonValue): string {
  return kind === "memory" ? String(value) : JSON.stringify(value);
}
