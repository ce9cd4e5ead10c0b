import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import type { Allows } from "../../daemon/held/judge.ts";
import { allowHeld, listHeld, putHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { outgoingOf } from "../../daemon/home/outgoing.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { bindProject } from "../../daemon/remotes/bind-project.ts";
import { moveMemories } from "../../daemon/remotes/move-memories.ts";
import { PrivateThere } from "../../daemon/remotes/private-parts.ts";
import { addRemote, moveProject } from "../../daemon/remotes/remote-book.ts";
import { changeRemote } from "../../daemon/remotes/remote-change.ts";
import type { AccountId } from "../../shared/ids.ts";
import { recordTextConflict } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";

const PROJECT = projectId("withheld");
const OWN_LINE = "Answer me in short sentences";
const book = { world: realWorld, environment: { url: undefined, token: undefined } };
const folder = mkdtempSync(join(tmpdir(), "memsync-withheld-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

/** A home with a remote. `write` puts things into a document before one's own text is here. */
async function openHome(name: string, write: (open: OpenDocument) => unknown) {
  const store = await openTestReplica(join(folder, `${stores.length}.db`), realWorld);
  stores.push(store);
  const edit = (owner: AccountId, make: (open: OpenDocument) => unknown) =>
    store.write(async (context) => {
      make(await context.open({ owner, name }));
    });
  const a = await store.write(async (context) => {
    return (await addRemote(context, book, { name: "a", url: "https://a.example.com" })).account;
  });
  await edit(LOCAL_ACCOUNT, write);
  await store.write(({ db }) =>
    keepPersonalVersion(db, { id: "abcdefghij", value: `${OWN_LINE}\n`, isOwn: true }),
  );
  const move = (to: AccountId) => store.write((context) => moveProject(context, PROJECT, { to }));
  /** All that a service would be sent, with what is gone again. */
  const sent = async (owner: AccountId) => {
    const [update, id] = await store.write(async (context) => {
      const open = await context.open({ owner, name });
      return [Buffer.from(Y.encodeStateAsUpdate(open.document.ydoc)), open.id] as const;
    });
    const rows = await store.reader
      .selectFrom("updates")
      .select("payload")
      .where("document_id", "=", id)
      .execute();
    return Buffer.concat([update, ...rows.map(({ payload }) => payload)]).toString("latin1");
  };
  const read = (owner: AccountId) =>
    store.write(async (context) => {
      const { document } = await context.open({ owner, name });
      const keys = [...document.memories.keys()].sort();
      const values = keys.map((key) => [key, document.memories.get(key).map((each) => each.value)]);
      return { memories: Object.fromEntries(values), content: document.content() };
    });
  const held = async () =>
    (await listHeld(store.reader)).map(({ kind, key, value, account, reason, shown }) => {
      return { kind, key, value, account, code: reason.code, shown };
    });
  return { store, a, edit, move, sent, read, held };
}

test("a project with what is private stays whole where it is, and its parts are named", async () => {
  const home = await openHome(PROJECT, ({ document }) => {
    document.setContent(`# P\n\n- ${OWN_LINE}\n`, NOW);
    document.setEntry("memories", "note", { value: `- **${OWN_LINE}**`, now: NOW });
    document.setEntry("memories", "both", { value: "first", now: NOW, seen: [] });
    document.setEntry("memories", "both", { value: OWN_LINE, now: NOW + 1, seen: [] });
    document.setEntry("metadata", "rule", { value: OWN_LINE, now: NOW });
  });
  const before = await home.sent(LOCAL_ACCOUNT);
  const refused = await home.move(home.a).catch((thrown) => thrown);
  expect(refused).toBeInstanceOf(PrivateThere);
  expect(refused.message).toBe(
    `${PROJECT} does not come to this service, for its text has 1 line of your personal text, ` +
      "from line 3; the memory note has 1 line of your personal text, from line 1; " +
      "the memory both has 1 line of your personal text, from line 1; and 1 more: delete that " +
      "first, or let it be synced: `memsync link DIR --remote a` with --allow-secret or " +
      "--allow-personal",
  );
  expect(await home.held()).toEqual([]);
  expect(await home.sent(LOCAL_ACCOUNT)).toBe(before);
  const change = { op: "move", project: PROJECT, to: "a" } as const;
  const { stays } = await home.store.write((context) => changeRemote(context, book, change));
  expect(stays).toBe(refused.message);
});

const ONE_PART: readonly (readonly [string, (open: OpenDocument) => unknown])[] = [
  ["a text", ({ document }) => document.setContent(`${OWN_LINE}\n`, NOW)],
  [
    "the losing one of two memories",
    ({ document }) => {
      document.setEntry("memories", "k", { value: OWN_LINE, now: NOW, seen: [] });
      document.setEntry("memories", "k", { value: "fine", now: NOW + 1, seen: [] });
    },
  ],
  [
    "the losing one of two metadata",
    ({ document }) => {
      document.setEntry("metadata", "k", { value: OWN_LINE, now: NOW, seen: [] });
      document.setEntry("metadata", "k", { value: "fine", now: NOW + 1, seen: [] });
    },
  ],
  [
    "a version in a conflict of the text",
    ({ document }) => {
      const at = (text: string, machine: string) => ({ text, machine, at: NOW });
      const versions = [at(`${OWN_LINE}\n`, "a"), at("fine\n", "b")] as const;
      recordTextConflict(document, { kind: "both", versions }, { now: NOW });
    },
  ],
  ["a memory's name", ({ document }) => setMemory(document, OWN_LINE, "fine")],
];

function setMemory(document: ReplicaDocument, key: string, value: string) {
  document.setEntry("memories", key, { value, now: NOW });
}

/** What the first call to the other service has of the project. */
async function firstSentOf(home: Awaited<ReturnType<typeof openHome>>): Promise<string> {
  const { update } = await home.store.write(async (context) => {
    const open = await context.open({ owner: home.a, name: PROJECT });
    const position = { remote: { epoch: "e", seq: 0 }, ackedSeq: 0, refused: undefined };
    return (await outgoingOf(context.db, open, position)).request;
  });
  return Buffer.from(update ?? []).toString("latin1");
}

test.each(ONE_PART)("%s of one's own stays, until somebody allows it", async (_, write) => {
  const home = await openHome(PROJECT, write);
  await expect(home.move(home.a)).rejects.toThrow("does not come to this service");
  const before = await home.sent(LOCAL_ACCOUNT);
  const binding = { project: PROJECT, remote: "a", former: undefined, others: [] };
  const bind = (allows: Allows) =>
    home.store.write((context) => bindProject(context, book, { ...binding, allows }));
  await expect(bind({ allowSecret: true })).rejects.toThrow("does not come to this service");
  expect(await bind({ allowPersonal: true })).toBe(home.a);
  expect(await home.sent(home.a)).toBe(before);
  expect(await home.held()).toEqual([]);
});

test("a conflict that the text has settled keeps no project here, and is not sent", async () => {
  const home = await openHome(PROJECT, ({ document }) => {
    const at = (text: string, machine: string) => ({ text, machine, at: NOW });
    const versions = [at(`${OWN_LINE}\n`, "a"), at("", "b")] as const;
    recordTextConflict(document, { kind: "unseen", versions }, { now: NOW });
    setMemory(document, "note", OWN_LINE);
  });
  // What `login --move` goes on after: a refused project is as it was.
  const before = await home.sent(LOCAL_ACCOUNT);
  const refused = await home.store.write((context) =>
    moveProject(context, PROJECT, { to: home.a }).catch((thrown: unknown) => thrown),
  );
  expect(refused).toBeInstanceOf(PrivateThere);
  expect(await home.sent(LOCAL_ACCOUNT)).toBe(before);
  await home.edit(LOCAL_ACCOUNT, (open) => open.deleteMemory({ key: "note", now: NOW + 1 }));
  expect(await home.move(home.a)).toBe(true);
  expect(await firstSentOf(home)).not.toContain(OWN_LINE);
});

test("that a memory with a private name was deleted keeps no project here, and is not sent", async () => {
  const home = await openHome(PROJECT, (open) => {
    for (const key of [OWN_LINE, "plain"]) {
      setMemory(open.document, key, "fine");
      open.deleteMemory({ key, now: NOW + 1 });
    }
  });
  expect(await home.move(home.a)).toBe(true);
  const sent = await firstSentOf(home);
  expect([sent.includes("removed/plain"), sent.includes(OWN_LINE)]).toEqual([true, false]);
});

test("a name that looks like a secret is not repeated", async () => {
  const home = await openHome(PROJECT, ({ document }) =>
    setMemory(document, PLANTED.github, "fine"),
  );
  const refused = await home.move(home.a).catch((thrown) => thrown);
  expect(refused.message).toContain("the memory [secret] looks like a GitHub token");
  expect(refused.message).not.toContain(PLANTED.github);
});

test("what a deleted memory said is not sent", async () => {
  const home = await openHome(PROJECT, ({ document }) => setMemory(document, "note", OWN_LINE));
  await home.edit(LOCAL_ACCOUNT, (open) => open.deleteMemory({ key: "note", now: NOW + 1 }));
  await home.move(home.a);
  const sent = await firstSentOf(home);
  expect([sent.includes("note"), sent.includes(OWN_LINE)]).toEqual([true, false]);
});

test("a project that nothing is private in keeps its very entries, and so does one that stays here", async () => {
  const ids = (open: OpenDocument) => open.document.memories.get("note").map(({ id }) => id);
  const read = async ({ store }: Awaited<ReturnType<typeof openHome>>, owner: AccountId) =>
    store.write(async (context) => ids(await context.open(projectDocument(owner, PROJECT))));
  const fine = await openHome(PROJECT, ({ document }) => setMemory(document, "note", "nothing"));
  const before = await read(fine, LOCAL_ACCOUNT);
  await fine.move(fine.a);
  expect([await read(fine, fine.a), await fine.held()]).toEqual([before, []]);
  const own = await openHome(PROJECT, () => {});
  await own.move(own.a);
  await own.edit(own.a, ({ document }) => setMemory(document, "note", OWN_LINE));
  const there = await read(own, own.a);
  await own.move(LOCAL_ACCOUNT);
  expect([await read(own, LOCAL_ACCOUNT), await own.held()]).toEqual([there, []]);
});

test("what is held since a move is let in, and a deletion beside it stays a question", async () => {
  const home = await openHome("global", ({ document }) => setMemory(document, "note", OWN_LINE));
  await home.edit(home.a, (open) => {
    setMemory(open.document, "note", "before");
    open.deleteMemory({ key: "note", now: NOW + 1 });
  });
  await home.store.write((context) =>
    moveMemories(context, "global", { from: LOCAL_ACCOUNT, to: home.a }),
  );
  const [item] = await listHeld(home.store.reader);
  await home.store.write(async ({ db }) => item && (await allowHeld(db, item)));
  await drainInbox(home.store);
  expect((await home.read(home.a)).memories).toEqual({ note: [OWN_LINE] });
  const left = await home.store.write(async (context) => {
    return (await context.open({ owner: home.a, name: "global" })).document.deletionsOf("note");
  });
  expect(left).toHaveLength(1);
});

test.each([
  ["global", "global", OWN_LINE],
  ["user", `user/${LOCAL_USER}`, PLANTED.github],
] as const)("a memory of %s that comes to a service is judged, too", async (layer, name, value) => {
  const home = await openHome(name, ({ document }) => {
    document.setEntry("memories", "note", { value, now: NOW });
    document.setEntry("memories", "fine", { value: "fine", now: NOW });
  });
  const moved = await home.store.write((context) =>
    moveMemories(context, layer, { from: LOCAL_ACCOUNT, to: home.a }),
  );
  expect(moved).toEqual({ moved: 2, conflicts: 0, held: 1, stayed: 0 });
  expect((await home.read(home.a)).memories).toEqual({ fine: ["fine"] });
  expect(await home.held()).toMatchObject([{ key: "note", value, account: home.a, shown: true }]);
  expect(await home.sent(home.a)).not.toContain(value);
  expect((await home.read(LOCAL_ACCOUNT)).memories).toEqual({});
});

test("what is held of a moved memory is shown as before, and the value below it is held as well", async () => {
  const home = await openHome("global", ({ document }) =>
    document.setEntry("memories", "note", { value: OWN_LINE, now: NOW }),
  );
  const reason = { code: "personal-lines", lines: [1] } as const;
  const place = {
    kind: "memory",
    account: LOCAL_ACCOUNT,
    document: "global",
    key: "note",
  } as const;
  const write = { value: `${OWN_LINE}!`, seen: [], cause: "private", reason } as const;
  await home.store.write(({ db }) => putHeld(db, { ...place, ...write, writtenAt: NOW + 1 }));
  await home.store.write((context) =>
    moveMemories(context, "global", { from: LOCAL_ACCOUNT, to: home.a }),
  );
  expect(await home.held()).toMatchObject([
    { value: OWN_LINE, shown: false, account: home.a },
    { value: `${OWN_LINE}!`, shown: true, account: home.a },
  ]);
  expect((await home.read(home.a)).memories).toEqual({});
});
