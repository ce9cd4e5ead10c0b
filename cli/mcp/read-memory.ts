import type { Kysely } from "kysely";
import { readMachineName } from "../../daemon/home/machine-name.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { nearWords } from "../../shared/near-words.ts";
import { revisionName } from "../../shared/replica/history/revision-name.ts";
import { passageOf } from "../../shared/replica/search/passage.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { memoryHistory, type Version } from "../local/local-history.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { type FoundMemory, type SearchedPlace, withConnected } from "../search/local-search.ts";
import { namedKeys, whyLikeSecret, withheldText } from "./kept-secret.ts";
import {
  findScope,
  type ProjectScope,
  placesOf,
  refusalIn,
  scopeJson,
  scopeLine,
} from "./project-scope.ts";
import { ageShown, memoryLine, type ShownMemory, shownMemory } from "./shown-memory.ts";
import { framed, NOTE, type Quoted, type ToolResult } from "./tool-result.ts";

/** What `read_memory` is asked. */
export interface ReadMemoryRequest {
  readonly key: string;
  readonly layer?: Layer | undefined;
  readonly project?: string | undefined;
  readonly revision?: string | undefined;
  readonly history?: boolean | undefined;
}

/** A list names at most this many versions. */
const VERSIONS_MAX = 30;
const FIRST_LINE_MAX = 120;

interface Asked {
  readonly scope: ProjectScope;
  readonly places: readonly SearchedPlace[];
  readonly key: string;
}

/** `read_memory`: one memory, one of its older versions, or a list of these. */
export async function readMemory(
  env: Environment,
  option: string | undefined,
  { key, revision, history, project, layer }: ReadMemoryRequest,
): Promise<ToolResult> {
  return await withLocal(env, async (db) => {
    const scope = await findScope(env, db, { argument: project, option });
    if (!db) throw refusalIn(scope, `there is no memory "${key}"`);
    const named = await placesOf(env, db, { scope, layer });
    const { places } = await withConnected(db, named, layer);
    const asked = { scope, places, key };
    if (history) return await listVersions(env, db, asked);
    if (revision) return await readVersion(env, db, { ...asked, revision });
    return await readCurrent(env, db, asked);
  });
}

async function readCurrent(
  env: Environment,
  db: Kysely<DaemonTables>,
  { scope, places, key }: Asked,
): Promise<ToolResult> {
  const keys: string[] = [];
  for (const place of places) {
    const memories = await readLocalMemories(db, place.document, place.account);
    const memory = memories.find((each) => each.key === key);
    if (!memory) {
      keys.push(...(await namedKeys(memories)));
      continue;
    }
    const found: FoundMemory = { memory, place };
    const shown = await shownMemory(env, db, { found, passageOf: (whole) => whole });
    const revision = revisionName(memory.value);
    const { passage: value, ...rest } = shown;
    return {
      text: framed([
        scopeLine(scope),
        NOTE,
        `${memoryLine(shown)} · revision ${revision}`,
        { quoted: value },
      ]),
      data: {
        ...scopeJson(scope),
        note: NOTE,
        ...(shown.project !== undefined && {
          of_project: shown.project,
          of_project_name: shown.project_name,
        }),
        ...withoutProject(rest),
        revision,
        value,
      },
    };
  }
  throw refusalIn(scope, `there is no memory "${key}"`, nearWords(key, keys));
}

/** In a result, `project` is the one that the call is about. */
function withoutProject<Shown extends Pick<ShownMemory, "project" | "project_name">>({
  project: _,
  project_name: __,
  ...rest
}: Shown): Omit<Shown, "project" | "project_name"> {
  return rest;
}

/** The versions of a key in the first place that has any. */
async function findVersions(
  env: Environment,
  db: Kysely<DaemonTables>,
  { scope, places, key }: Asked,
): Promise<readonly Version[]> {
  const machine = readMachineName(env.home);
  for (const { document, account } of places) {
    const known = await memoryHistory({ db, document, account, machine }, key);
    const versions = known.filter(({ state }) => state !== "deleted");
    if (versions.length > 0) return versions;
  }
  throw refusalIn(scope, `there is no memory "${key}" and no history of one`);
}

/** What `shownOf` makes of an older value, unless that looks like a secret. */
async function oldValue(
  db: Kysely<DaemonTables>,
  memory: { readonly key: string; readonly value: string },
  shownOf: (value: string) => string,
): Promise<string> {
  const why = await whyLikeSecret(db, memory);
  return why === undefined ? shownOf(memory.value) : withheldText(why);
}

async function listVersions(
  env: Environment,
  db: Kysely<DaemonTables>,
  asked: Asked,
): Promise<ToolResult> {
  const versions: object[] = [];
  const lines: (string | Quoted)[] = [];
  for (const each of (await findVersions(env, db, asked)).slice(0, VERSIONS_MAX)) {
    const { revision, state, machine = null } = each;
    const age = ageShown(each.writtenAt);
    const passage = await oldValue(db, { key: asked.key, value: each.value }, (value) =>
      passageOf(value, "", FIRST_LINE_MAX),
    );
    versions.push({ revision, state, age, machine, passage });
    const line = `${revision} · ${state} · ${age} · ${machine ?? "an unknown machine"}`;
    lines.push(line, { quoted: passage });
  }
  return {
    text: framed([scopeLine(asked.scope), NOTE, ...lines]),
    data: { ...scopeJson(asked.scope), note: NOTE, key: asked.key, versions },
  };
}

async function readVersion(
  env: Environment,
  db: Kysely<DaemonTables>,
  { revision, ...asked }: Asked & { readonly revision: string },
): Promise<ToolResult> {
  const { scope, key } = asked;
  const versions = await findVersions(env, db, asked);
  const version = versions.find((each) => each.revision === revision);
  if (!version) {
    throw refusalIn(scope, `${key} has no revision ${revision}: history lists them`);
  }
  const { state, writtenAt, machine = null } = version;
  const value = await oldValue(db, { key, value: version.value }, (whole) => whole);
  const age = ageShown(writtenAt);
  const line = `${key} · ${state} · ${age} · ${machine ?? "an unknown machine"}`;
  return {
    text: framed([scopeLine(scope), NOTE, line, { quoted: value }]),
    data: { ...scopeJson(scope), note: NOTE, key, revision, state, age, machine, value },
  };
}
