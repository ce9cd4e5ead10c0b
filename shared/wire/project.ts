import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../errors.ts";
import type { ProjectId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import { LIMITS } from "../limits.ts";
import { MemoryIdText, ProjectIdText } from "./id.ts";
import { jsonObject, METADATA_FIELDS, metadataIn } from "./json.ts";
import { pageFields } from "./page.ts";
import { invalid, tryWith } from "./parse.ts";
import { text } from "./text.ts";
import { Timestamp } from "./timestamp.ts";

/** A project's metadata in an answer. */
export const Metadata = jsonObject<JsonObject>({
  properties: METADATA_FIELDS.stored,
  description: "whatever syncs and `POST /api/projects` have given, any JSON",
});

/** A project as variant B shows it, and variant A in lists. */
export const Project = Type.Object(
  {
    id: ProjectIdText,
    name: Type.String(),
    metadata: Metadata,
    memory_count: Type.Integer({ description: "memories of the project's own layer" }),
    connected_project_ids: Type.Array(ProjectIdText),
    created_at: Timestamp,
    updated_at: Timestamp,
    last_synced_at: Type.Union([Timestamp, Type.Null()]),
  },
  { title: "Project" },
);
export type Project = Static<typeof Project>;

/** Answer of `GET …/projects`. `total` is of all pages; `next_cursor` null on the last. */
export const ProjectList = Type.Object(
  { projects: Type.Array(Project), ...pageFields },
  { title: "ProjectList" },
);
export type ProjectList = Static<typeof ProjectList>;

/** Answer of `GET /v1/projects/:id`. */
export const ProjectWithText = Type.Composite(
  [
    Project,
    Type.Object({ claude_md_content: Type.String({ description: "the description document" }) }),
  ],
  { title: "ProjectWithText" },
);
export type ProjectWithText = Static<typeof ProjectWithText>;

/** What of a memory a sync answers, and a connected project shows. */
export const KeyValue = Type.Object(
  { key: Type.String(), value: Type.String() },
  { title: "KeyValue" },
);

/** Answer of `GET /api/projects/:id`. */
export const ProjectWithMemories = Type.Composite(
  [
    ProjectWithText,
    Type.Object({
      memories: Type.Array(
        Type.Object({
          key: Type.String(),
          value: Type.String(),
          id: MemoryIdText,
          created_at: Timestamp,
          updated_at: Timestamp,
        }),
        { description: "the memories of the project's own layer" },
      ),
      connected_projects: Type.Array(
        Type.Object({ id: ProjectIdText, name: Type.String(), memories: Type.Array(KeyValue) }),
        { description: "what connected projects share" },
      ),
    }),
  ],
  { title: "ProjectWithMemories" },
);
export type ProjectWithMemories = Static<typeof ProjectWithMemories>;

/** The text of a project's description document in a request. */
export const ClaudeMd = text(
  { bytesMax: LIMITS.claudeMdBytes },
  { description: "the description document, as a whole" },
);

/** Metadata in a request, before `parseMetadata`. */
export const MetadataBody = jsonObject<object>({
  properties: METADATA_FIELDS.sent,
  description:
    "any JSON, merged key by key: each value replaces the one under its key, null removes it; " +
    `at most ${LIMITS.metadataBytes} bytes as JSON and ${LIMITS.metadataDepth} levels`,
});

/** Body of `POST /api/projects`. */
export const ProjectPutBody = Type.Object(
  {
    id: Type.Optional(ProjectIdText),
    name: Type.Optional(text({ nonEmpty: true, bytesMax: LIMITS.projectNameBytes })),
    claude_md_content: Type.Optional(ClaudeMd),
    metadata: Type.Optional(MetadataBody),
  },
  { title: "ProjectPut", description: "`id` or `name` is there" },
);

/** Answer of `POST /api/projects`. */
export const ProjectPutAnswer = Type.Composite(
  [Project, Type.Object({ created: Type.Boolean() })],
  { title: "ProjectPutAnswer" },
);
export type ProjectPutAnswer = Static<typeof ProjectPutAnswer>;

/** Answer of `DELETE /api/projects/:id`. */
export const ProjectDeleted = Type.Object(
  { id: ProjectIdText, deleted: Type.Literal(true) },
  { title: "ProjectDeleted" },
);
export type ProjectDeleted = Static<typeof ProjectDeleted>;

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
