import { type Static, Type } from "@sinclair/typebox";
import type { MemoryId, ProjectId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { Layer } from "./layer.ts";
import { parseWith } from "./parse.ts";
import { existingProjectId } from "./project-id.ts";
import { text } from "./text.ts";

/** A memory's key in a request. */
export const MemoryKey = text({ nonEmpty: true, bytesMax: LIMITS.memoryKeyBytes });

/** A memory as variant A shows it. */
export const Memory = Type.Object({
  id: text<MemoryId>(),
  content: Type.String(),
  layer: Layer,
  created_at: Type.String(),
  project_id: Type.Union([text<ProjectId>(), Type.Null()]),
  key: Type.String(),
  updated_at: Type.String(),
});
export type Memory = Static<typeof Memory>;

/** Answer of `GET /v1/memories`. `total` is of all pages; `next_cursor` null on the last. */
export const MemoryList = Type.Object({
  memories: Type.Array(Memory),
  total: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});
export type MemoryList = Static<typeof MemoryList>;

/** Answer of `DELETE /v1/memories/:id`. */
export const MemoryDeleted = Type.Object({ id: text<MemoryId>(), deleted: Type.Literal(true) });
export type MemoryDeleted = Static<typeof MemoryDeleted>;

/** Body of `POST /v1/memories`. */
export const MemoryCreateBody = Type.Object({
  content: text({ nonEmpty: true, bytesMax: LIMITS.memoryValueBytes }),
  layer: Type.Optional(Layer),
  project_id: Type.Optional(text()),
  key: Type.Optional(MemoryKey),
});

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
