import { type Static, Type } from "@sinclair/typebox";
import type { ProjectId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { MemoryIdText, ProjectIdText } from "./id.ts";
import { Layer } from "./layer.ts";
import { pageFields } from "./page.ts";
import { parseWith } from "./parse.ts";
import { existingProjectId } from "./project-id.ts";
import { text } from "./text.ts";
import { Timestamp } from "./timestamp.ts";

/** A memory's key in a request. */
export const MemoryKey = text(
  { nonEmpty: true, bytesMax: LIMITS.memoryKeyBytes },
  { description: "names the memory within its layer" },
);

/** A memory as variant A shows it. */
export const Memory = Type.Object(
  {
    id: MemoryIdText,
    content: Type.String(),
    layer: Layer,
    created_at: Timestamp,
    project_id: Type.Union([ProjectIdText, Type.Null()], {
      description: "null in the layers user and global",
    }),
    key: Type.String({ description: "names the memory within its layer" }),
    updated_at: Timestamp,
  },
  { title: "Memory" },
);
export type Memory = Static<typeof Memory>;

/** Answer of `GET /v1/memories`. `total` is of all pages; `next_cursor` null on the last. */
export const MemoryList = Type.Object(
  { memories: Type.Array(Memory), ...pageFields },
  { title: "MemoryList" },
);
export type MemoryList = Static<typeof MemoryList>;

/** Answer of `DELETE /v1/memories/:id`. */
export const MemoryDeleted = Type.Object(
  { id: MemoryIdText, deleted: Type.Literal(true) },
  { title: "MemoryDeleted" },
);
export type MemoryDeleted = Static<typeof MemoryDeleted>;

/** Body of `POST /v1/memories`. */
export const MemoryCreateBody = Type.Object(
  {
    content: text({ nonEmpty: true, bytesMax: LIMITS.memoryValueBytes }),
    layer: Type.Optional(Layer),
    project_id: Type.Optional(
      text({}, { description: "the project of a memory of the layer project" }),
    ),
    key: Type.Optional(MemoryKey),
  },
  { title: "MemoryCreate" },
);

/** A memory to create, or to update when its key exists. */
export interface MemoryCreate {
  readonly content: string;
  readonly layer: Layer;
  readonly project_id?: ProjectId;
  readonly key?: string;
}

/** Throws a 400, or a 404 for an ill-formed `project_id`. `layer` is `project` when left out. */
export function parseMemoryCreate(value: unknown): MemoryCreate {
  const { project_id, layer = "project", ...rest } = parseWith(MemoryCreateBody, value);
  if (project_id === undefined) return { ...rest, layer };
  return { ...rest, layer, project_id: existingProjectId(project_id) };
}
