import { resolve } from "node:path";
import type { Kysely } from "kysely";
import { realPathOf } from "../../daemon/git/working-tree.ts";
import { listLinks } from "../../daemon/home/links.ts";
import { findProjectName } from "../../daemon/home/project-name.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Environment } from "../place/environment.ts";
import { findMeant, type MeantProject } from "../place/find-project.ts";
import { findNamedProject } from "../place/named-project.ts";
import { type MemoryPlace, targetOf } from "../place/place.ts";
import { namedProjects } from "../place/project-names.ts";
import { CommandFailed } from "../screen/errors.ts";
import { framed, ToolRefusal } from "./tool-result.ts";

type Db = Kysely<DaemonTables> | undefined;

/** A project that a call could mean. */
export interface ProjectCandidate {
  readonly id: string;
  readonly name: string;
}

/** Which project a call is about, and why that one. */
export type ProjectScope =
  | {
      readonly kind: "project";
      readonly id: ProjectId;
      readonly name: string;
      readonly why: string;
    }
  /** No project was found: a read has the personal layers left, and a write has to name one. */
  | {
      readonly kind: "none";
      readonly why: string;
      readonly candidates: readonly ProjectCandidate[];
    };

/** A result names at most this many candidates. */
const CANDIDATES_MAX = 20;

/**
 * Finds the project of a call: that of its `project` argument, of `--project`, of
 * `CLAUDE_PROJECT_DIR` or of the current folder, whichever is given first. It is never guessed:
 * linked folders below the folder are candidates. Throws `ToolRefusal` for a name that is unknown
 * or that several have.
 *
 * ```
 * const scope = await findScope(env, db, { argument: "widget" });
 * if (scope.kind === "project") show(scope.id, scope.why);
 * ```
 */
export async function findScope(
  env: Environment,
  db: Db,
  {
    argument,
    option,
  }: { readonly argument?: string | undefined; readonly option?: string | undefined },
): Promise<ProjectScope> {
  if (argument) return await scopeNamed(env, db, { named: argument, why: "named in the call" });
  if (option !== undefined) return await scopeNamed(env, db, { named: option, why: "--project" });
  const claude = env.variables.CLAUDE_PROJECT_DIR;
  return await scopeOfFolder(env, db, {
    folder: claude || env.dir,
    why: claude ? "CLAUDE_PROJECT_DIR" : "the current folder",
  });
}

async function scopeNamed(
  env: Environment,
  db: Db,
  { named, why }: { readonly named: string; readonly why: string },
): Promise<ProjectScope> {
  const dir = env.variables.CLAUDE_PROJECT_DIR || env.dir;
  try {
    return await scopeOf(db, await findNamedProject(db, named, { home: env.home, dir }), why);
  } catch (thrown) {
    if (!(thrown instanceof CommandFailed)) throw thrown;
    throw new ToolRefusal(framed([thrown.message]), { candidates: await allProjects(db) });
  }
}

async function scopeOfFolder(
  env: Environment,
  db: Db,
  { folder, why }: { readonly folder: string; readonly why: string },
): Promise<ProjectScope> {
  const dir = await realPathOf(resolve(env.dir, folder));
  try {
    const meant = await findMeant(db, undefined, { home: env.home, dir });
    return await scopeOf(db, meant.project, `${why}, ${dir}${byWay(meant)}`);
  } catch (thrown) {
    if (!(thrown instanceof CommandFailed)) throw thrown;
    const candidates = db ? await linkedBelow(db, dir) : [];
    if (candidates.length === 0) return { kind: "none", why: thrown.message, candidates };
    const names = candidates.map(({ name, id }) => `${name} (${id})`).join(", ");
    const sentence = `${dir} is in no project, and these are below it: ${names}`;
    return { kind: "none", why: sentence, candidates };
  }
}

/** How the project was found, if the folder itself is in none. */
function byWay({ by, dir }: MeantProject): string {
  if (by === "origin") return `, a clone of the repository of ${dir}`;
  return by === "repository" ? `, in the same repository as ${dir}` : "";
}

async function scopeOf(db: Db, id: ProjectId, why: string): Promise<ProjectScope> {
  return { kind: "project", id, name: (db && (await findProjectName(db, id))) ?? id, why };
}

async function linkedBelow(db: Kysely<DaemonTables>, dir: string): Promise<ProjectCandidate[]> {
  const prefix = dir.endsWith("/") ? dir : `${dir}/`;
  const below = (await listLinks(db)).filter((link) => link.dir.startsWith(prefix));
  return distinct(below.map(({ projectId: id, name }) => ({ id, name })));
}

async function allProjects(db: Db): Promise<ProjectCandidate[]> {
  return distinct((await namedProjects(db)).map(({ id, name }) => ({ id, name: name ?? id })));
}

function distinct(given: readonly ProjectCandidate[]): ProjectCandidate[] {
  const byId = new Map(given.map((each) => [each.id, each]));
  const sorted = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return sorted.slice(0, CANDIDATES_MAX);
}

/** A scope as every result has it. */
export function scopeJson(scope: ProjectScope): Readonly<Record<string, unknown>> {
  if (scope.kind === "none") {
    const { why, candidates } = scope;
    return { project: null, why, ...(candidates.length > 0 && { candidates }) };
  }
  const { id, name, why } = scope;
  return { project: { id, name, why } };
}

/** The same as the first line of a text. */
export function scopeLine(scope: ProjectScope): string {
  if (scope.kind === "project") return `Project ${scope.name} (${scope.id}): ${scope.why}.`;
  return `No project: ${scope.why}. Only the layers user and global are read.`;
}

/**
 * A refusal that names the project, as every result does; `similar`: keys that could be meant.
 */
export function refusalIn(
  scope: ProjectScope,
  message: string,
  similar: readonly string[] = [],
): ToolRefusal {
  const near = similar.length === 0 ? "" : `; similar keys: ${similar.join(", ")}`;
  return new ToolRefusal(framed([scopeLine(scope), `${message}${near}`]), {
    ...scopeJson(scope),
    similar,
  });
}

/** The place that a write goes to. Throws `ToolRefusal` where it is the project's, and unknown. */
export async function placeToWrite(
  env: Environment,
  db: Db,
  { scope, layer }: { readonly scope: ProjectScope; readonly layer: Layer },
): Promise<MemoryPlace> {
  if (scope.kind === "project") return await targetOf(env, db, { layer, project: scope.id });
  if (layer !== "project") return await targetOf(env, db, { layer });
  const said =
    `nothing was done: ${scope.why}. Ask which project is meant and give it as \`project\`, or ` +
    "use the layer user";
  throw new ToolRefusal(framed([said]), scopeJson(scope));
}

/** The places that a read looks at, in order. */
export async function placesOf(
  env: Environment,
  db: Db,
  { scope, layer }: { readonly scope: ProjectScope; readonly layer?: Layer | undefined },
): Promise<MemoryPlace[]> {
  const all: readonly Layer[] =
    scope.kind === "project" ? ["project", "user", "global"] : ["user", "global"];
  const places: MemoryPlace[] = [];
  for (const each of all) {
    if (layer === undefined || layer === each) {
      places.push(await placeToWrite(env, db, { scope, layer: each }));
    }
  }
  return places;
}
