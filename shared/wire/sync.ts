import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import { LIMITS } from "../limits.ts";
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
