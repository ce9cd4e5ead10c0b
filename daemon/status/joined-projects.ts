import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { parseJson } from "../../shared/json.ts";
import { JOINED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { type ProjectJoin, parseJoin } from "../../shared/replica/document/project-join.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { listKnownPlaces } from "../files/names/place-store.ts";
import type { Home } from "../home/home.ts";
import { readHomeId } from "../home/home-id.ts";
import type { JoinedStatus } from "../home/joined-status.ts";
import type { Link } from "../home/links.ts";
import { findProjectName } from "../home/project-name.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/**
 * The projects to which other machines have linked a folder of a project that is linked here. Each
 * stays in the list until this machine has linked its folders there, too, or the other one has
 * linked its folder back.
 */
export async function joinsOfLinked(
  db: Db,
  home: Home,
  { project, links }: { readonly project: ProjectId; readonly links: readonly Link[] },
): Promise<JoinedStatus[]> {
  const joins = await readJoins(db, project);
  if (joins.length === 0) return [];
  const own = readHomeId(home);
  const places = await listKnownPlaces(db);
  const linked = links.filter(({ projectId }) => projectId === project);
  const told: JoinedStatus[] = [];
  for (const join of joins) {
    if (join.home !== undefined && join.home === own) continue;
    const namedBy = ({ dir }: Link) => places.get(dir)?.derivedId;
    // The project's own folders stay where they are when that of another repository goes.
    const meant = linked.filter((link) => join.of === project || namedBy(link) !== project);
    const [first] = [...meant.filter((link) => namedBy(link) === join.of), ...meant];
    if (first) told.push(await statusOf(db, join, first.dir));
  }
  return told;
}

/** The same of a project that no folder is linked to here, this machine's own links included. */
export async function joinsOfUnlinked(db: Db, project: ProjectId): Promise<JoinedStatus[]> {
  const joins = await readJoins(db, project);
  return await Promise.all(joins.map((join) => statusOf(db, join, null)));
}

async function statusOf(db: Db, join: ProjectJoin, dir: string | null): Promise<JoinedStatus> {
  const { to, name, at, machine = null } = join;
  const known = (await findProjectName(db, to)) ?? name ?? null;
  return { id: to, name: known, at: timestampOf(at), machine, dir };
}

/** The latest first. */
async function readJoins(db: Db, project: ProjectId): Promise<ProjectJoin[]> {
  const rows = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select(["metadata.key", "value"])
    .where("documents.name", "=", project)
    .where("metadata.key", ">=", JOINED_PREFIX)
    .where("metadata.key", "<", `${JOINED_PREFIX}~`)
    .execute();
  const joins = rows.flatMap(({ key, value }) => parseJoin(key, parseJson(value)) ?? []);
  return joins.sort((one, other) => other.at - one.at);
}
