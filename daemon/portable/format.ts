import { type Static, Type } from "@sinclair/typebox";
import { AppError, type ErrorDetail } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { LIMITS } from "../../shared/limits.ts";
import { ProjectIdText } from "../../shared/wire/id.ts";
import { parseMetadata } from "../../shared/wire/json.ts";
import { refuseMalformed } from "../../shared/wire/malformed.ts";
import { MemoryKey } from "../../shared/wire/memory.ts";
import { invalid, pointerToken, tryWith } from "../../shared/wire/parse.ts";
import { ClaudeMd, MetadataBody } from "../../shared/wire/project.ts";
import { refuseDoubles } from "../../shared/wire/sync.ts";
import { text } from "../../shared/wire/text.ts";
import { parseTimestamp, timestamp } from "../../shared/wire/timestamp.ts";

import { PortableTextConflict, refuseTooLong } from "./text-conflicts.ts";

/** The format number of `memsync export`'s documents; see docs/export.md. */
export const EXPORT_FORMAT = 1;

const MemoryValue = text({ bytesMax: LIMITS.memoryValueBytes });

const PortableMemory = Type.Object({
  key: MemoryKey,
  value: MemoryValue,
  updated_at: timestamp(),
  /** Values that lost against it and are not settled, newest first. */
  conflicts: Type.Optional(
    Type.Array(Type.Object({ value: MemoryValue, updated_at: timestamp() })),
  ),
});
export type PortableMemory = Static<typeof PortableMemory>;

const Memories = Type.Array(PortableMemory);

const ProjectBody = Type.Object({
  id: ProjectIdText,
  name: Type.Optional(text({ nonEmpty: true, bytesMax: LIMITS.projectNameBytes })),
  claude_md_content: ClaudeMd,
  metadata: MetadataBody,
  memories: Memories,
  text_conflicts: Type.Optional(Type.Array(PortableTextConflict)),
});

const Layer = Type.Object({ memories: Memories });

const HomeBody = Type.Object({
  format: Type.Integer(),
  projects: Type.Array(ProjectBody),
  user: Layer,
  global: Layer,
});

/** Everything that a machine holds of one project. */
export interface PortableProject extends Omit<Static<typeof ProjectBody>, "metadata"> {
  readonly metadata: JsonObject;
}

/** Everything local, as `memsync export` writes it. */
export interface PortableHome extends Omit<Static<typeof HomeBody>, "projects"> {
  readonly projects: readonly PortableProject[];
}

/**
 * Throws a 400 that names every offending place, or that says that the format is another one.
 *
 * ```
 * const document = parsePortableHome(JSON.parse(text));
 * await importHome(store, document, { own: account });
 * ```
 */
export function parsePortableHome(value: unknown): PortableHome {
  refuseOtherFormat(value);
  const details: ErrorDetail[] = [];
  refuseMalformed(value, details);
  const body = tryWith(HomeBody, value, details);
  if (body === undefined) throw invalid(details);
  refuseDoubles(body.projects, ({ id }) => id, { path: "/projects", field: "id", details });
  refuseDoubleKeys(body.user.memories, "/user", details);
  refuseDoubleKeys(body.global.memories, "/global", details);
  const projects = body.projects.map((project, at) => {
    const path = `/projects/${at}`;
    refuseDoubleKeys(project.memories, path, details);
    const conflicts = project.text_conflicts ?? [];
    refuseDoubles(conflicts, ({ id }) => id, {
      path: `${path}/text_conflicts`,
      field: "id",
      details,
    });
    refuseTooLong(conflicts, `${path}/text_conflicts`, details);
    return { ...project, metadata: metadataOf(project.metadata, `${path}/metadata`, details) };
  });
  if (details.length > 0) throw invalid(details);
  return { ...body, projects };
}

/** Why a note can be no memory, such as that it is too long; undefined where it can. */
export function problemOfMemory(memory: PortableMemory): ErrorDetail | undefined {
  const details: ErrorDetail[] = [];
  refuseMalformed(memory, details);
  tryWith(PortableMemory, memory, details);
  return details[0];
}

function refuseOtherFormat(value: unknown): void {
  const format = typeof value === "object" && value !== null && "format" in value && value.format;
  if (format === EXPORT_FORMAT) return;
  const newer = typeof format === "number" && format > EXPORT_FORMAT;
  throw new AppError(
    "invalid_request",
    newer
      ? `its format is ${format}, written by a newer memsync: update this one`
      : "it is nothing that `memsync export` wrote: it has no known `format`",
  );
}

function refuseDoubleKeys(memories: Static<typeof Memories>, path: string, details: ErrorDetail[]) {
  refuseDoubles(memories, ({ key }) => key, { path: `${path}/memories`, field: "key", details });
}

function metadataOf(value: object, path: string, details: ErrorDetail[]): JsonObject {
  const metadata = parseMetadata(value, path, details);
  for (const [key, item] of Object.entries(metadata)) {
    const place = `${path}/${pointerToken(key)}`;
    if (item === null) details.push({ path: place, message: "must not be null" });
  }
  return metadata;
}

/** Milliseconds since the Unix epoch of a validated timestamp. */
export function readTime(timestamp: string): number {
  const time = parseTimestamp(timestamp);
  if (time !== undefined) return time;
  throw new AppError("invalid_request", "a time is no timestamp");
}
