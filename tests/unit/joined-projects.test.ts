import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putKnownPlace } from "../../daemon/files/names/place-store.ts";
import { homeOf } from "../../daemon/home/home.ts";
import { type Link, putLink } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listUnsent } from "../../daemon/home/unlinked-projects.ts";
import { moveToProject } from "../../daemon/links/relink.ts";
import { settleJoins } from "../../daemon/links/settle-joins.ts";
import {
  joinsOfLinked,
  joinsOfUnlinked,
  listJoinedInto,
} from "../../daemon/status/joined-projects.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { beginAnew, deleteProject } from "../../shared/replica/document/project-deletion.ts";
import { recordJoin } from "../../shared/replica/document/project-join.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const [X, Y] = [projectId("x"), projectId("y")];
const LAP = "aaaaaaaaaaaaaaaa";
const PLACE = { device: "1", inode: "1", bornAt: "1" };
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
  const settle = (link: Link, facts: Omit<Parameters<typeof settleJoins>[2], "link">) =>
    store.write(async (context) => {
      await putLink(context.db, link, context.now);
      return await settleJoins(context, LOCAL_ACCOUNT, { link, ...facts });
    });
  /** Somebody names the project of lap's folder, which was linked to `former`, or to none. */
  const name = (repository: ProjectId, former: ProjectId | undefined, to: ProjectId) =>
    settle(linkOf("/lap", to), {
      former: former && linkOf("/lap", former),
      derivedId: repository,
    });
  /** The same of a folder that stays in the project, for every machine. */
  const nameForAll = (repository: ProjectId, project: ProjectId) =>
    settle(linkOf("/lap", project), {
      former: linkOf("/lap", project),
      derivedId: repository,
      isForAll: true,
    });
  /** Links a folder of this machine. */
  const place = (dir: string, repository: ProjectId, project: ProjectId) =>
    store.write(async ({ db, now }) => {
      const known = { place: PLACE, evidence: "origin", rootCommit: undefined } as const;
      await putKnownPlace(db, dir, { ...known, derivedId: repository, change: undefined });
      await putLink(db, linkOf(dir, project), now);
    });
  /** What a machine is told whose folder, of this repository, is linked to `project`. */
  const told = async (project: ProjectId, repository: ProjectId | undefined, home = "desk") => {
    const dir = `/${home}/${repository}`;
    const known = {
      place: PLACE,
      evidence: "origin",
      rootCommit: undefined,
      change: undefined,
    } as const;
    await store.write(({ db }) => putKnownPlace(db, dir, { ...known, derivedId: repository }));
    const read = homeOf({ MEMSYNC_HOME: join(folder, home) });
    const links = [linkOf(dir, project)];
    const joins = await joinsOfLinked(store.reader, read, { project, links });
    return joins.map(({ id, dirs }) => `${id} ${dirs.join(" ")}`);
  };
  return { store, relink, name, nameForAll, place, told };
}

test("whoever goes on in a project is told where another machine has linked it", async () => {
  const { relink, told } = await openBoth();
  expect(await told(X, X)).toEqual([]);
  await relink(X, X, Y);
  expect(await told(X, X)).toEqual([`${Y} /desk/${X}`]);
  expect(await told(X, undefined)).toEqual([`${Y} /desk/undefined`]);
  expect(await told(Y, Y)).toEqual([]);
});

test("another folder of the machine that has linked one elsewhere is told as well", async () => {
  const { store, relink } = await openBoth();
  await relink(X, X, Y);
  const home = homeOf({ MEMSYNC_HOME: join(folder, "lap") });
  await Bun.write(join(home.dir, "x"), "");
  writeFileSync(home.identity, `${LAP}\n`);
  const links = [linkOf("/lap", Y), linkOf("/second", X), linkOf("/third", X)];
  const told = await joinsOfLinked(store.reader, home, { project: X, links });
  const which = { id: Y, from: X, here: true };
  const dirs = ["/second", "/third"];
  expect(told).toMatchObject([{ ...which, dirs, is_left: false }]);
  // The folder that was linked elsewhere is there no more.
  const left = { project: X, links: links.slice(1) };
  const again = await joinsOfLinked(store.reader, home, left);
  expect(again).toMatchObject([{ ...which, dirs, is_left: true }]);
});

test("a folder that is linked back after it was unlinked is told to those who followed", async () => {
  const { relink, name, told } = await openBoth();
  await relink(X, X, Y);
  const { ended } = await name(X, undefined, X);
  expect(ended).toMatchObject([{ of: X, to: Y }]);
  expect(await told(X, X)).toEqual([]);
  expect(await told(Y, X)).toEqual([`${X} /desk/${X}`]);
  expect(await told(Y, Y)).toEqual([]);
});

test("as long as another folder of it is in the other project nothing has gone back", async () => {
  const { relink, name, place, told } = await openBoth();
  await relink(X, X, Y);
  await place("/second", X, Y);
  expect((await name(X, undefined, X)).ended).toEqual([]);
  expect(await told(X, X)).toEqual([`${Y} /desk/${X}`]);
});

test("who ends a join for all ends it though another folder has followed, which is told", async () => {
  const { relink, nameForAll, place, told } = await openBoth();
  await relink(X, X, Y);
  await place("/second", X, Y);
  expect((await nameForAll(X, X)).ended).toMatchObject([{ of: X, to: Y }]);
  expect(await told(X, X)).toEqual([]);
  expect(await told(Y, X)).toEqual([`${X} /desk/${X}`]);
});

test("whoever names the project that a folder has stays there, and is told no more", async () => {
  const { store, relink, name, place, told } = await openBoth();
  await relink(X, X, Y);
  await place("/second", X, Y);
  expect((await name(X, X, X)).declined).toMatchObject([{ of: X, to: Y }]);
  expect(await told(X, X)).toEqual([]);
  // The document says it still, to every other machine; and here, if it is done again.
  expect(await joinsOfUnlinked(store.reader, X)).toMatchObject([{ id: Y }]);
  await relink(X, Y, X);
  await store.write(async ({ db }) => {
    // What was declined was another join, at another time.
    await db.updateTable("declined_joins").set({ joined_at: 1 }).execute();
  });
  await relink(X, X, Y);
  expect(await told(X, X)).toEqual([`${Y} /desk/${X}`]);
});

test("of two projects that were joined in both directions the later join is told alone", async () => {
  const { store, relink, told } = await openBoth();
  await relink(X, X, Y);
  await store.write(async (context) => {
    const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, Y));
    const other = { name: "x", machine: "desk", home: "bbbbbbbbbbbbbbbb" };
    recordJoin(document, { of: Y, to: X, at: context.now + 1, ...other });
  });
  expect(await told(X, X)).toEqual([]);
  expect(await told(Y, Y)).toEqual([`${X} /desk/${Y}`]);
  expect(await told(Y, X)).toEqual([`${X} /desk/${X}`]);
});

test("a folder without git that goes back is told to nobody who is at home there", async () => {
  const { relink, told } = await openBoth();
  await relink(undefined, X, Y);
  await relink(undefined, Y, X);
  expect(await told(X, X)).toEqual([]);
  expect(await told(Y, Y)).toEqual([]);
  expect(await told(Y, X)).toEqual([`${X} /desk/${X}`]);
});

test("of a folder that went back no machine names one that may never have been there", async () => {
  const { store, relink, told } = await openBoth();
  await relink(undefined, X, Y);
  await relink(undefined, Y, X);
  // On another machine a folder without a repository may have followed.
  expect(await told(Y, undefined)).toEqual([`${X} `]);
  const home = homeOf({ MEMSYNC_HOME: join(folder, "lap-back") });
  await Bun.write(join(home.dir, "x"), "");
  writeFileSync(home.identity, `${LAP}\n`);
  const links = [linkOf("/lap", X), linkOf("/of-y", Y)];
  expect(await joinsOfLinked(store.reader, home, { project: Y, links })).toEqual([]);
});

test("whoever follows a folder back, without git, tells nobody that a project was joined", async () => {
  const { relink, nameForAll, told } = await openBoth();
  await relink(undefined, X, Y);
  await nameForAll(X, X);
  // The other machine's folder, which had followed.
  await relink(undefined, Y, X);
  expect(await told(Y, Y)).toEqual([]);
  expect(await told(X, X)).toEqual([]);
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

test("a deleted project says where its folder went, until it is begun anew", async () => {
  const { store, relink, told } = await openBoth();
  const change = (make: (document: ReplicaDocument, now: number) => unknown) =>
    store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, X));
      await make(document, context.now);
    });
  await relink(X, X, Y);
  expect(await listJoinedInto(store.reader, Y)).toEqual([{ id: X, machine: "lap" }]);
  await change((document, now) => deleteProject(document, now));
  expect(await told(X, X)).toEqual([`${Y} /desk/${X}`]);
  expect(await joinsOfUnlinked(store.reader, X)).toMatchObject([{ id: Y, is_deleted: true }]);
  // Whoever follows from there says nothing more in it.
  expect(await relink(X, X, Y)).toBeUndefined();
  await change(beginAnew);
  expect(await told(X, X)).toEqual([]);
});
