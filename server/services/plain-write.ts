import { invalidAt } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import { isPublicKey } from "../../shared/replica/rows.ts";

export interface PlainWrite {
  readonly claude_md_content?: string;
  readonly memories?: readonly { readonly key: string; readonly value: string }[];
  readonly metadata?: JsonObject;
}

export interface PlainChanges {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

/**
 * Writes the plain fields of a sync or of a project into its document: memories upserted by key,
 * metadata merged key by key (`null` removes one), the text by whole lines. What equals the stored
 * state changes nothing. The counts are of memories.
 */
export function writePlain(open: OpenDocument, write: PlainWrite, now: number): PlainChanges {
  const { document } = open;
  const counts = { created: 0, updated: 0, unchanged: 0 };
  if (addsSomething(write)) open.assertRoom();
  document.change("local", () => {
    for (const { key, value } of write.memories ?? []) {
      const known = document.memories.get(key).length > 0;
      const changed = document.setEntry("memories", key, value, { now });
      counts[changed ? (known ? "updated" : "created") : "unchanged"] += 1;
    }
    for (const [key, value] of Object.entries(write.metadata ?? {})) {
      if (value === null) document.deleteEntry("metadata", key);
      else document.setEntry("metadata", key, value, { now });
    }
    if (write.claude_md_content !== undefined) document.setContent(write.claude_md_content, now);
  });
  if (write.metadata !== undefined) assertMetadataFits(open);
  return counts;
}

function addsSomething({ memories, claude_md_content: text, metadata }: PlainWrite): boolean {
  return (
    (memories?.length ?? 0) > 0 || (text ?? "") !== "" || Object.keys(metadata ?? {}).length > 0
  );
}

/** The limit on metadata binds what a write results in, for it may come in many small pieces. */
function assertMetadataFits(open: OpenDocument): void {
  const { metadata } = open.document;
  const merged = Object.fromEntries(
    [...metadata.keys()].filter(isPublicKey).map((key) => [key, metadata.get(key)[0]?.value]),
  );
  if (!exceedsBytes(JSON.stringify(merged), LIMITS.metadataBytes)) return;
  throw invalidAt("/metadata", `metadata may take at most ${LIMITS.metadataBytes} bytes as JSON`);
}
