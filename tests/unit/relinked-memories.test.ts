import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { allowPersonalLines } from "../../daemon/held/personal-lines.ts";
import { allowHeld, listHeld, putHeld } from "../../daemon/home/held-store.ts";
import type { Link } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { moveToProject } from "../../daemon/links/relink.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import {
  endJoins,
  isBrought,
  joinsIn,
  recordJoin,
} from "../../shared/replica/document/project-join.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";

const [P, Q] = [projectId("p"), projectId("q")];
const folder = mkdtempSync(join(tmpdir(), "memsync-relinked-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

/** A home with two projects. */
/** A folder goes at the time at which others write. */
const WORLD = { ...realWorld, now: () => NOW };

async function openBoth() {
  const store = await openTestReplica(join(folder, `${stores.length}.db`), WORLD);
  stores.push(store);
  const edit = (project: ProjectId, make: (open: OpenDocument) => unknown) =>
    store.write(async (context) => {
      make(await context.open(projectDocument(LOCAL_ACCOUNT, project)));
    });
  const set = (project: ProjectId, value: string, now: number) =>
    edit(project, ({ document }) => document.setEntry("memories", "k", { value, now }));
  const linkTo = (project: ProjectId): Link => ({
    dir: "/d",
    projectId: project,
    name: "d",
    write: false,
  });
  const relink = (from: ProjectId, to: ProjectId) =>
    store.write((context) =>
      moveToProject(context, LOCAL_ACCOUNT, {
        former: linkTo(from),
        link: linkTo(to),
        derivedId: P,
        bringsMemories: true,
      }),
    );
  const read = (project: ProjectId) =>
    store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, project));
      const values = document.memories.get("k").map(({ value }) => value);
      return { values, deletions: document.deletionsOf("k").length };
    });
  const update = (of: ProjectId) =>
    store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, of));
      return Y.encodeStateAsUpdate(document.ydoc);
    });
  /** Takes what another home has of a project. */
  const take = async (from: { readonly update: typeof update }, of: ProjectId) => {
    const theirs = await from.update(of);
    await edit(of, (open) => open.applyUpdate(theirs));
  };
  /** What is held of a project, the earliest first. */
  const held = async (of: ProjectId) => {
    const all = await listHeld(store.reader, { account: LOCAL_ACCOUNT, document: of });
    return all.map(({ value, reason: { code }, shown }) => ({ value, code, shown }));
  };
  return { store, edit, set, relink, read, take, update, held };
}

test("what was written over in the one project is so in the other one, and no question", async () => {
  const { set, relink, read } = await openBoth();
  await set(P, "first", NOW);
  await relink(P, Q);
  await set(Q, "second", NOW + 1);
  await relink(Q, P);
  expect(await read(P)).toEqual({ values: ["second"], deletions: 0 });
});

test("what neither project knows of the other one's is a conflict", async () => {
  const { set, relink, read } = await openBoth();
  await set(P, "of p", NOW);
  await set(Q, "of q", NOW + 1);
  await relink(P, Q);
  expect(await read(Q)).toEqual({ values: ["of q", "of p"], deletions: 0 });
});

test("a memory of both that was deleted in one and written in the other one is asked about", async () => {
  const { edit, set, relink, read } = await openBoth();
  await set(P, "zeroth", NOW - 1);
  await set(P, "first", NOW);
  await relink(P, Q);
  await edit(P, (open) => open.deleteMemory({ key: "k", now: NOW + 1 }));
  await set(Q, "second", NOW + 2);
  await relink(Q, P);
  expect(await read(P)).toEqual({ values: ["second"], deletions: 1 });
});

test("a folder that goes back leaves behind what the other project had before it came", async () => {
  const [lap, desk] = [await openBoth(), await openBoth()];
  const write = (home: typeof lap, of: ProjectId, key: string) =>
    home.edit(of, ({ document }) => document.setEntry("memories", key, { value: "1", now: NOW }));
  const keysIn = (home: typeof lap, of: ProjectId) =>
    home.store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, of));
      return [...document.memories.keys()].sort();
    });
  await write(lap, P, "of p");
  await write(lap, Q, "of q");
  for (const of of [P, Q]) await desk.take(lap, of);
  await lap.relink(P, Q);
  for (const of of [P, Q]) await desk.take(lap, of);
  await desk.relink(P, Q);
  await lap.take(desk, Q);
  await write(lap, Q, "since");
  await lap.relink(Q, P);
  expect(await keysIn(lap, P)).toEqual(["of p", "since"]);
  expect(await keysIn(lap, Q)).toEqual(["of p", "of q", "since"]);
  for (const of of [P, Q]) await desk.take(lap, of);
  // Who has followed goes back in the same way, and tells nobody to follow into the other one.
  await write(desk, Q, "later");
  await desk.relink(Q, P);
  expect(await keysIn(desk, P)).toEqual(["later", "of p", "since"]);
});

test("what a folder's machine hears of only after it came was there before all the same", async () => {
  const [lap, desk] = [await openBoth(), await openBoth()];
  const keysIn = (home: typeof lap, of: ProjectId) =>
    home.store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, of));
      return [...document.memories.keys()].sort();
    });
  const write = (home: typeof lap, of: ProjectId, key: string, now: number) =>
    home.edit(of, ({ document }) => document.setEntry("memories", key, { value: "1", now }));
  await write(desk, Q, "theirs", NOW - 1);
  await write(lap, P, "mine", NOW - 1);
  await lap.relink(P, Q);
  await lap.take(desk, Q);
  await write(lap, Q, "since", NOW + 1);
  await lap.relink(Q, P);
  expect(await keysIn(lap, P)).toEqual(["mine", "since"]);
  expect(await keysIn(lap, Q)).toEqual(["mine", "since", "theirs"]);
  const [told] = await lap.store.write(async (context) => {
    const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, Q));
    const joins = joinsIn(document).filter(({ isReturn }) => isReturn);
    return joins.map(({ brought }) => {
      const isOne = (key: string) =>
        document.memories.get(key).some(({ id }) => isBrought(id, brought));
      return [...document.memories.keys()].filter(isOne);
    });
  });
  expect(told).toEqual(["mine"]);
});

test("what may have been written meanwhile by a slow clock is told, and what was deleted", async () => {
  const [lap, desk] = [await openBoth(), await openBoth()];
  const write = (home: typeof lap, of: ProjectId, key: string, now: number) =>
    home.edit(of, ({ document }) => document.setEntry("memories", key, { value: "1", now }));
  await write(lap, Q, "of q", NOW - 2);
  await write(lap, P, "mine", NOW - 1);
  const told = { isPastKnown: true, undated: [], deleted: [] };
  expect(await lap.relink(P, Q)).toEqual({ ...told, kind: "join" });
  await desk.take(lap, Q);
  await write(desk, Q, "slow", NOW - 1);
  await lap.take(desk, Q);
  await lap.edit(Q, (open) => open.deleteMemory({ key: "mine", now: NOW + 1 }));
  const moved = await lap.relink(Q, P);
  expect(moved).toEqual({ ...told, kind: "return", undated: ["slow"], deleted: ["mine"] });
});

test("a folder brings no memory back from a join that does not say what was there before", async () => {
  const { store, edit, relink, held } = await openBoth();
  const write = (of: ProjectId, key: string, now: number) =>
    edit(of, ({ document }) => document.setEntry("memories", key, { value: "1", now }));
  await write(P, "mine", NOW - 1);
  await write(Q, "of q", NOW - 1);
  await relink(P, Q);
  await edit(P, ({ document }) => {
    const [join] = joinsIn(document);
    if (!join) throw new Error("nothing was joined");
    // As a former version wrote it.
    endJoins(document, [join]);
    recordJoin(document, { ...join, before: undefined, brought: undefined });
  });
  await write(Q, "since", NOW + 1);
  const place = { account: LOCAL_ACCOUNT, document: Q, kind: "memory", key: "held" } as const;
  const why = { cause: "refused", reason: { code: "no-room" }, retryBatch: 1 } as const;
  const written = { value: "1", seen: [], writtenAt: NOW + 1 };
  await store.write(({ db }) => putHeld(db, { ...place, ...written, ...why }));
  expect(await relink(Q, P)).toMatchObject({ kind: "return", isPastKnown: false, undated: [] });
  const keys = await store.write(async (context) => {
    const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, P));
    return [...document.memories.keys()];
  });
  expect([keys, await held(P)]).toEqual([["mine"], []]);
  expect(await held(Q)).toHaveLength(1);
});

test("what a folder brought first is known after it came and went twice", async () => {
  const { store, edit, relink } = await openBoth();
  const write = (of: ProjectId, key: string) =>
    edit(of, ({ document }) => document.setEntry("memories", key, { value: "1", now: NOW - 1 }));
  await write(P, "first");
  await relink(P, Q);
  await relink(Q, P);
  await write(P, "second");
  await relink(P, Q);
  await relink(Q, P);
  const brought = await store.write(async (context) => {
    const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, Q));
    const [join] = joinsIn(document);
    const isOne = (key: string) =>
      document.memories.get(key).some(({ id }) => isBrought(id, join?.brought));
    return [...document.memories.keys()].filter(isOne);
  });
  expect(brought.sort()).toEqual(["first", "second"]);
});

test("a memory under a name that was deleted in the other project is asked about", async () => {
  const { edit, set, relink, read } = await openBoth();
  await set(Q, "of q", NOW);
  await edit(Q, (open) => open.deleteMemory({ key: "k", now: NOW + 1 }));
  await set(P, "of p", NOW + 2);
  await relink(P, Q);
  expect(await read(Q)).toEqual({ values: ["of p"], deletions: 1 });
});

test("what another machine brought and deleted does not come back untold by who follows", async () => {
  const [lap, desk] = [await openBoth(), await openBoth()];
  await lap.set(P, "of p", NOW);
  await desk.take(lap, P);
  await lap.relink(P, Q);
  await lap.edit(Q, (open) => open.deleteMemory({ key: "k", now: NOW + 1 }));
  // This machine hears of the project only now, and knows nothing of what was in it before.
  await desk.take(lap, Q);
  await desk.relink(P, Q);
  expect(await desk.read(Q)).toEqual({ values: ["of p"], deletions: 1 });
  await lap.take(desk, Q);
  expect(await lap.read(Q)).toEqual({ values: ["of p"], deletions: 1 });
});

const OWN_LINE = "Answer me in short sentences";

/** A home whose user allowed a line of the personal text for P alone. */
async function openAllowed() {
  const home = await openBoth();
  await home.store.write(async ({ db }) => {
    await keepPersonalVersion(db, { id: "abcdefghij", value: `${OWN_LINE}\n`, isOwn: true });
    await allowPersonalLines(db, { document: P, text: OWN_LINE }, NOW);
  });
  return home;
}

test("lines that were allowed for the one project are held on their way into the other one", async () => {
  const { store, set, relink, read, held } = await openAllowed();
  await set(P, `- ${OWN_LINE}.`, NOW);
  await relink(P, Q);
  expect(await read(Q)).toEqual({ values: [], deletions: 0 });
  const line = { value: `- ${OWN_LINE}.`, code: "personal-lines", shown: true } as const;
  expect(await held(Q)).toEqual([line]);
  expect(await read(P)).toEqual({ values: [line.value], deletions: 0 });
  // To and fro once more holds nothing twice.
  await relink(Q, P);
  await relink(P, Q);
  expect(await held(Q)).toEqual([line]);
  await store.write(async ({ db }) => {
    const [item] = await listHeld(db, { account: LOCAL_ACCOUNT, document: Q });
    if (item) await allowHeld(db, item);
  });
  await drainInbox(store);
  expect(await read(Q)).toEqual({ values: [line.value], deletions: 0 });
});

test("secrets, and each version of a conflict, are held on their way into another project", async () => {
  const { set, edit, relink, read, held } = await openAllowed();
  await edit(P, ({ document }) => {
    const seen: [] = [];
    document.setEntry("memories", "k", { value: PLANTED.github, now: NOW, seen });
    document.setEntry("memories", "k", { value: OWN_LINE, now: NOW + 1, seen });
    document.setEntry("memories", "k", { value: "of p", now: NOW + 2, seen });
  });
  await set(Q, "of q", NOW + 3);
  await relink(P, Q);
  expect(await read(Q)).toEqual({ values: ["of q", "of p"], deletions: 0 });
  // The later values are shown, as where two machines wrote them.
  expect(await held(Q)).toEqual([
    { value: PLANTED.github, code: "looks-like-secret", shown: false },
    { value: OWN_LINE, code: "personal-lines", shown: false },
  ]);
});

test("a folder that goes back holds nothing of what stands in its project", async () => {
  const { set, relink, read, held } = await openAllowed();
  await set(P, OWN_LINE, NOW);
  await relink(P, Q);
  expect(await held(Q)).toHaveLength(1);
  await relink(Q, P);
  expect(await held(P)).toEqual([]);
  expect(await read(P)).toEqual({ values: [OWN_LINE], deletions: 0 });
  // Somebody writes it anew there while the folder is away.
  await relink(P, Q);
  await set(P, "of another machine", NOW + 1);
  await relink(Q, P);
  expect(await held(P)).toEqual([]);
  expect(await read(P)).toEqual({ values: ["of another machine"], deletions: 0 });
});

test("what the service refused of the one project is judged before the other one's gets it", async () => {
  const { store, set, relink, held } = await openAllowed();
  await set(P, "of p", NOW - 1);
  await store.write(({ db }) =>
    putHeld(db, {
      kind: "memory",
      account: LOCAL_ACCOUNT,
      document: P,
      key: "k",
      value: OWN_LINE,
      seen: [],
      cause: "refused",
      reason: { code: "no-room" },
      retryBatch: 1,
      writtenAt: NOW,
    }),
  );
  await relink(P, Q);
  expect(await held(Q)).toEqual([{ value: OWN_LINE, code: "personal-lines", shown: true }]);
  const [item] = await listHeld(store.reader, { account: LOCAL_ACCOUNT, document: Q });
  expect(item?.retryBatch).toBeUndefined();
});

test("a held memory that is let in leaves a deletion that was made there", async () => {
  const { store, edit, set, relink, read } = await openAllowed();
  await set(Q, "of q", NOW - 2);
  await edit(Q, (open) => open.deleteMemory({ key: "k", now: NOW - 1 }));
  await set(P, OWN_LINE, NOW);
  await relink(P, Q);
  const [item] = await listHeld(store.reader);
  await store.write(async ({ db }) => item && (await allowHeld(db, item)));
  await drainInbox(store);
  expect(await read(Q)).toEqual({ values: [OWN_LINE], deletions: 1 });
});
