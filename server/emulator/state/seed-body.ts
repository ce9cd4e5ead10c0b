import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../../../shared/errors.ts";
import { LIMITS } from "../../../shared/limits.ts";
import { connectRequestOf } from "../../../shared/wire/connection.ts";
import { ProjectIdText } from "../../../shared/wire/id.ts";
import { parseMetadata } from "../../../shared/wire/json.ts";
import { MemoryKey } from "../../../shared/wire/memory.ts";
import { invalid, refusedAt, tryWith } from "../../../shared/wire/parse.ts";
import { type ProjectPut, ProjectPutBody } from "../../../shared/wire/project.ts";
import { SessionBody, sessionUploadOf } from "../../../shared/wire/session.ts";
import { refuseDoubles, type SyncPayload } from "../../../shared/wire/sync.ts";
import { text } from "../../../shared/wire/text.ts";
import { unknownFields } from "../../../shared/wire/unknown-fields.ts";

const Memories = Type.Optional(
  Type.Array(
    Type.Object({
      key: Type.Optional(MemoryKey),
      value: text({ bytesMax: LIMITS.memoryValueBytes }),
    }),
  ),
);

/** At most as many as an account has: an export is a seed, however it came together. */
const Sessions = Type.Optional(Type.Array(SessionBody));

const ProjectBody = Type.Object({
  ...ProjectPutBody.properties,
  memories: Memories,
  sessions: Sessions,
});

const Layer = Type.Optional(Type.Object({ memories: Memories }));

const SeedBody = Type.Object({
  format: Type.Optional(Type.Integer()),
  projects: Type.Optional(Type.Array(ProjectBody)),
  user: Layer,
  global: Layer,
  sessions: Sessions,
  connections: Type.Optional(
    Type.Array(
      Type.Object({
        project_ids: Type.Array(ProjectIdText, {
          minItems: 2,
          maxItems: 2,
          expected: "an array of two projects' ids",
        }),
      }),
    ),
  ),
});

const Exported = Type.Optional(
  Type.Array(Type.Object({ updated_at: Type.Unknown(), conflicts: Type.Unknown() })),
);
const ExportedLayer = Type.Object({ memories: Exported });

/** What `memsync export` writes besides. It is known, and not read. */
const ExportedBody = Type.Object({
  projects: Type.Array(Type.Object({ memories: Exported, text_conflicts: Type.Unknown() })),
  user: ExportedLayer,
  global: ExportedLayer,
});

type Memory = NonNullable<Static<typeof Memories>>[number];

/**
 * A seed, checked by the rules of the interface: throws a 400 that names every wrong place, a
 * misspelt field among them. It has the form of an export, of `memsync export` as well; what that
 * has besides is left out.
 */
export function parseSeed(value: unknown) {
  const details: ErrorDetail[] = unknownFields([SeedBody, ExportedBody], value).map((path) => ({
    path,
    message: "is not a field of a seed",
  }));
  const seed = tryWith(SeedBody, value, details);
  if (seed === undefined) throw invalid(details);
  const { format = 1, projects = [], user, global, connections = [] } = seed;
  const { sessions = [] } = seed;
  if (format !== 1) throw refusedAt("/format", "is not known: this emulator reads format 1");
  const parsed = {
    projects: projects.map((each, at) => projectOf(each, `/projects/${at}`, details)),
    memories: [...layerOf(user, "user", details), ...layerOf(global, "global", details)],
    sessions: sessions.map(sessionUploadOf),
    connections: connections.map(({ project_ids: [one = "", other = ""] }, at) =>
      connectRequestOf(one, other, `/connections/${at}/project_ids`),
    ),
  };
  refuseDoubleProjects(projects, details);
  refuseDoubleSessions(seed, details);
  if (details.length > 0) throw invalid(details);
  return parsed;
}

/** A session is of one project, or of none: the last of two would have it. */
function refuseDoubleSessions(
  { projects = [], sessions = [] }: Static<typeof SeedBody>,
  details: ErrorDetail[],
): void {
  const lists = [
    ...projects.map((each, at) => ({ path: `/projects/${at}`, list: each.sessions ?? [] })),
    { path: "", list: sessions },
  ];
  const seen = new Set<string>();
  for (const { path, list } of lists) {
    for (const [at, { id }] of list.entries()) {
      const place = `${path}/sessions/${at}/id`;
      if (seen.has(id)) details.push({ path: place, message: "is given twice in this request" });
      seen.add(id);
    }
  }
}

/** A project without an id is the one of its name, with whichever id that has. */
function refuseDoubleProjects(
  projects: readonly Static<typeof ProjectBody>[],
  details: ErrorDetail[],
): void {
  for (const [at, { id, name }] of projects.entries()) {
    const isTwice = projects.slice(0, at).some((other) => {
      const areNamed = id !== undefined && other.id !== undefined;
      return areNamed ? other.id === id : name !== undefined && other.name === name;
    });
    if (!isTwice) continue;
    const path = `/projects/${at}/${id === undefined ? "name" : "id"}`;
    details.push({ path, message: "is a project's that the seed has already" });
  }
}

function projectOf(body: Static<typeof ProjectBody>, path: string, details: ErrorDetail[]) {
  const { memories = [], sessions = [], metadata, ...rest } = body;
  if (rest.id === undefined && rest.name === undefined) {
    details.push({ path, message: "needs an id or a name" });
  }
  const stored = metadata && parseMetadata(metadata, `${path}/metadata`, details);
  const put: ProjectPut = { ...rest, ...(stored && { metadata: stored }) };
  refuseDoubleKeys(memories, path, details);
  const keyed = memories.flatMap(({ key, value }) => (key === undefined ? [] : [{ key, value }]));
  const sync: SyncPayload = { memories: keyed, sessions: sessions.map(sessionUploadOf) };
  return { put, sync, keyless: memories.filter(({ key }) => key === undefined) };
}

function layerOf(
  { memories = [] }: { readonly memories?: Memory[] } = {},
  layer: "user" | "global",
  details: ErrorDetail[],
) {
  refuseDoubleKeys(memories, `/${layer}`, details);
  return memories.map((memory) => ({ layer, ...memory }));
}

function refuseDoubleKeys(memories: readonly Memory[], path: string, details: ErrorDetail[]) {
  refuseDoubles(
    // Those without a key are never the same.
    memories.map(({ key }, at) => (key === undefined ? `${at}` : `key ${key}`)),
    (identity) => identity,
    { path: `${path}/memories`, field: "key", details },
  );
}
