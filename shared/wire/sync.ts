import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../errors.ts";
import { isObject, type JsonObject } from "../json.ts";
import { LIMITS } from "../limits.ts";
import { chunksOf, type Pause } from "../turns.ts";
import { ProjectIdText } from "./id.ts";
import { metadataIn } from "./json.ts";
import { MemoryKey } from "./memory.ts";
import { invalid, tryWith } from "./parse.ts";
import { ClaudeMd, KeyValue, Metadata, MetadataBody } from "./project.ts";
import { SessionBody, type SessionUpload, sessionUploadOf } from "./session.ts";
import { text } from "./text.ts";
import { Timestamp } from "./timestamp.ts";

/** `sessions` of any sync body. */
export const SessionsBody = Type.Array(SessionBody, {
  maxItems: LIMITS.sessionsPerSync,
  expected: `an array of at most ${LIMITS.sessionsPerSync} sessions`,
});

/** Body of `POST …/projects/:id/sync`, without a replica exchange. */
export const SyncBody = Type.Object(
  {
    claude_md_content: Type.Optional(ClaudeMd),
    memories: Type.Optional(
      Type.Array(
        Type.Object({ key: MemoryKey, value: text({ bytesMax: LIMITS.memoryValueBytes }) }),
        {
          description: "written by key, each key once; what is not mentioned stays",
          maxItems: LIMITS.memoriesPerSync,
          expected: `an array of at most ${LIMITS.memoriesPerSync} memories`,
        },
      ),
    ),
    metadata: Type.Optional(MetadataBody),
    sessions: Type.Optional(SessionsBody),
  },
  { title: "Sync" },
);

/** What one plain sync writes. Absent parts are not changed. Each key occurs once. */
export interface SyncPayload {
  readonly claude_md_content?: string;
  readonly memories?: readonly { readonly key: string; readonly value: string }[];
  /** Merged key by key; `null` removes a key. */
  readonly metadata?: JsonObject;
  readonly sessions?: readonly SessionUpload[];
}

/** The merged state after a plain sync. */
export const SyncAnswer = Type.Object(
  {
    project_id: ProjectIdText,
    synced_at: Timestamp,
    claude_md_content: Type.String({ description: "the description document" }),
    memories: Type.Array(KeyValue),
    metadata: Metadata,
    changes: Type.Object(
      { created: Type.Integer(), updated: Type.Integer(), unchanged: Type.Integer() },
      { description: "what became of the memories of the request" },
    ),
  },
  { title: "SyncAnswer", description: "the project as it is after the sync" },
);
export type SyncAnswer = Static<typeof SyncAnswer>;

/** Throws a 400. */
export function parseSyncPayload(value: unknown): SyncPayload {
  const details: ErrorDetail[] = [];
  const body = tryWith(SyncBody, value, details);
  refuseDoubles(body?.memories ?? [], ({ key }) => key, {
    path: "/memories",
    field: "key",
    details,
  });
  refuseDoubles(body?.sessions ?? [], ({ id }) => id, { path: "/sessions", field: "id", details });
  const metadata = metadataIn(value, details);
  if (body === undefined || details.length > 0) throw invalid(details);
  const { metadata: _, sessions, ...rest } = body;
  return {
    ...rest,
    ...(metadata !== undefined && { metadata }),
    ...(sessions !== undefined && { sessions: sessions.map(sessionUploadOf) }),
  };
}

/** This many items are checked in a fraction of a turn. */
const ITEMS_AT_ONCE = 256;

/** The same, in parts between which the turn may end. */
export async function parseLongSync(value: unknown, pause: Pause): Promise<SyncPayload> {
  const fields = isObject(value) ? value : {};
  const lists = LISTS.filter(({ field, itemsMax }) => {
    const items = fields[field];
    return Array.isArray(items) && items.length > ITEMS_AT_ONCE && items.length <= itemsMax;
  });
  const long = new Set<string>(lists.map(({ field }) => field));
  const rest = Object.entries(fields).filter(([field]) => !long.has(field));
  try {
    let payload = parseSyncPayload(lists.length === 0 ? value : Object.fromEntries(rest));
    for (const { field } of lists) {
      const parse = (some: readonly unknown[]) => parseSyncPayload({ [field]: some })[field] ?? [];
      const items = await parseItems(fields[field] as readonly unknown[], pause, parse);
      payload = { ...payload, [field]: items };
    }
    return payload;
  } catch (thrown) {
    if (lists.length === 0) throw thrown;
    // Details name places in the whole.
    return parseSyncPayload(value);
  }
}

const LISTS = [
  { field: "memories", itemsMax: LIMITS.memoriesPerSync },
  { field: "sessions", itemsMax: LIMITS.sessionsPerSync },
] as const;

type Item = NonNullable<SyncPayload["memories" | "sessions"]>[number];

/** Throws if two have the same identity. */
async function parseItems(
  items: readonly unknown[],
  pause: Pause,
  parse: (some: readonly unknown[]) => readonly Item[],
): Promise<Item[]> {
  const parsed: Item[] = [];
  const seen = new Set<string>();
  for (const some of chunksOf(items, ITEMS_AT_ONCE)) {
    await pause();
    for (const item of parse(some)) {
      parsed.push(item);
      seen.add("key" in item ? item.key : item.id);
    }
  }
  if (seen.size < parsed.length) throw new Error("two items have the same identity");
  return parsed;
}

/** Adds a detail for each item with the identity of an earlier one. */
export function refuseDoubles<Item>(
  items: readonly Item[],
  identityOf: (item: Item) => string,
  {
    path,
    field,
    details,
  }: { readonly path: string; readonly field: string; readonly details: ErrorDetail[] },
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const identity = identityOf(item);
    if (seen.has(identity)) {
      details.push({
        path: `${path}/${index}/${field}`,
        message: "is given twice in this request",
      });
    }
    seen.add(identity);
  }
}
