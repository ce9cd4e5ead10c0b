import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putKnownPlace } from "../../daemon/files/names/place-store.ts";
import { homeOf } from "../../daemon/home/home.ts";
import type { Link } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listUnsent } from "../../daemon/home/unlinked-projects.ts";
import { moveToProject } from "../../daemon/links/relink.ts";
import { joinsOfLinked, joinsOfUnlinked } from "../../daemon/status/joined-projects.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { deleteProject } from "../../shared/replica/document/project-deletion.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const [X, Y] = [projectId("x"), projectId("y")];
const LAP = "aaaaaaaaaaaaaaaa";
const folder = mkdtempSync(join(tmpdir(), "memsync-joined-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

const linkOf = (dir: string, project: ProjectId): Link => ({
  dir,
  projectId: project,
  name: project.slice("proj_".length),
  write: false,
});

/** A replica that `lap` writes, with two projects and a memory in each. */
async function openBoth() {
  const path = join(folder, `home-${stores.length}.db`);
  const store = await openTestReplica(path, realWorld, { machine: "lap", homeId: LAP });
  stores.push(store);
  await store.write(async (context) => {
    for (const project of [X, Y]) {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, project));
      document.setEntry("memories", `of ${project}`, { value: "1", now: context.now });
    }
  });
  const relink = (repository: ProjectId | undefined, from: ProjectId, to: ProjectId) =>
    store.write((context) =>
      moveToProject(context, LOCAL_ACCOUNT, {
        former: linkOf("/lap", from),
        link: linkOf("/lap", to),
        derivedId: repository,
        bringsMemories: true,
      }),
    );
  /** What a machine is told whose folder, of this repository, is linked to `project`. */
  const told = async (project: ProjectId, repository: ProjectId | undefined, home = "desk") => {
    const dir = `/${home}/${repository}`;
    const place = { device: "1", inode: "1", bornAt: "1" };
    const known = { place, evidence: "origin", rootCommit: undefined, change: undefined } as const;
    await store.write(({ db }) => putKnownPlace(db, dir, { ...known, derivedId: repository }));
    const read = homeOf({ MEMSYNC_HOME: join(folder, home) });
    const links = [linkOf(dir, project)];
    const joins = await joinsOfLinked(store.reader, read, { project, links });
    return joins.map(({ id, dir: at }) => `${id} ${at}`);
  };
  return { store, relink, told };
}

test("whoever goes on in a project is told where another machine has linked it", async () => {
  const { relink, told } = await openBoth();
  expect(await told(X, X)).toEqual([]);
  await relink(X, X, Y);
  expect(await told(X, X)).toEqual([`${Y} /desk/${X}`]);
  expect(await told(X, undefined)).toEqual([`${Y} /desk/undefined`]);
  expect(await told(Y, Y)).toEqual([]);
});

test("a machine is not told of its own link", async () => {
  const { relink, told } = await openBoth();
  await relink(X, X, Y);
  const { dir, identity } = homeOf({ MEMSYNC_HOME: join(folder, "lap") });
  await Bun.write(join(dir, "x"), "");
  writeFileSync(identity, `${LAP}\n`);
  expect(await told(X, X, "lap")).toEqual([]);
});

test("a folder that goes back is told to those who followed it, and to nobody else", async () => {
  const { relink, told } = await openBoth();
  await relink(X, X, Y);
  await relink(X, Y, X);
  expect(await told(X, X)).toEqual([]);
  expect(await told(Y, X)).toEqual([`${X} /desk/${X}`]);
  expect(await told(Y, Y)).toEqual([]);
});

test("what says where a folder went is sent, though the project is linked nowhere", async () => {
  const { store, relink } = await openBoth();
  const serviceOf = () => "service";
  const unsent = () =>
    listUnsent(store.reader, { what: "join", links: [linkOf("/lap", Y)], serviceOf });
  expect(await unsent()).toEqual([]);
  await relink(X, X, Y);
  expect(await unsent()).toEqual([X]);
  expect(await joinsOfUnlinked(store.reader, X)).toMatchObject([{ id: Y, machine: "lap" }]);
});

test("a deleted project says nothing of where its folder went", async () => {
  const { store, relink } = await openBoth();
  const remove = () =>
    store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, X));
      await deleteProject(document, context.now);
    });
  await relink(X, X, Y);
  await remove();
  expect(await joinsOfUnlinked(store.reader, X)).toEqual([]);
  expect(await relink(X, X, Y)).toBe(false);
  expect(await joinsOfUnlinked(store.reader, X)).toEqual([]);
});
