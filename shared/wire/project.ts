import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../errors.ts";
import { type MemoryId, type ProjectId, parseProjectId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import { LIMITS } from "../limits.ts";
import { jsonObject, metadataIn } from "./json.ts";
import { invalid, tryWith } from "./parse.ts";
import { text } from "./text.ts";

/** A project as variant B shows it, and variant A in lists. */
export const Project = Type.Object({
  id: text<ProjectId>(),
  name: Type.String(),
  metadata: jsonObject<JsonObject>(),
  memory_count: Type.Integer(),
  connected_project_ids: Type.Array(text<ProjectId>()),
  created_at: Type.String(),
  updated_at: Type.String(),
  last_synced_at: Type.Union([Type.String(), Type.Null()]),
});
export type Project = Static<typeof Project>;

/** Answer of `GET …/projects`. `total` is of all pages; `next_cursor` null on the last. */
export const ProjectList = Type.Object({
  projects: Type.Array(Project),
  total: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});
export type ProjectList = Static<typeof ProjectList>;

/** Answer of `GET /v1/projects/:id`. */
export const ProjectWithText = Type.Composite([
  Project,
  Type.Object({ claude_md_content: Type.String() }),
]);
export type ProjectWithText = Static<typeof ProjectWithText>;

const KeyValue = Type.Object({ key: Type.String(), value: Type.String() });

/** Answer of `GET /api/projects/:id`. */
export const ProjectWithMemories = Type.Composite([
  ProjectWithText,
  Type.Object({
    memories: Type.Array(
      Type.Object({
        key: Type.String(),
        value: Type.String(),
        id: text<MemoryId>(),
        created_at: Type.String(),
        updated_at: Type.String(),
      }),
    ),
    connected_projects: Type.Array(
      Type.Object({
        id: text<ProjectId>(),
        name: Type.String(),
        memories: Type.Array(KeyValue),
      }),
    ),
  }),
]);
export type ProjectWithMemories = Static<typeof ProjectWithMemories>;

/** The text of a project's description document in a request. */
export const ClaudeMd = text({ bytesMax: LIMITS.claudeMdBytes });

/** Metadata in a request, before `parseMetadata`. */
export const MetadataBody = jsonObject<object>();

/** Body of `POST /api/projects`. */
export const ProjectPutBody = Type.Object({
  id: Type.Optional(
    text<ProjectId>({
      accepts: (value) => parseProjectId(value) !== undefined,
      expected: "proj_ and 1 to 64 of [0-9A-Za-z_-]",
    }),
  ),
  name: Type.Optional(text({ nonEmpty: true, bytesMax: LIMITS.projectNameBytes })),
  claude_md_content: Type.Optional(ClaudeMd),
  metadata: Type.Optional(MetadataBody),
});

/** A project to create or update; `id` or `name` is there. */
export interface ProjectPut {
  readonly id?: ProjectId;
  readonly name?: string;
  readonly claude_md_content?: string;
  /** Merged key by key; `null` removes a key. */
  readonly metadata?: JsonObject;
}

/** Throws a 400. */
export function parseProjectPut(value: unknown): ProjectPut {
  const details: ErrorDetail[] = [];
  const body = tryWith(ProjectPutBody, value, details);
  const metadata = metadataIn(value, details);
  if (body && body.id === undefined && body.name === undefined) {
    details.push({ path: "/name", message: "is needed where there is no id" });
  }
  if (body === undefined || details.length > 0) throw invalid(details);
  const { metadata: _, ...rest } = body;
  return { ...rest, ...(metadata !== undefined && { metadata }) };
}
