import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { allowPersonalLines } from "../../daemon/held/personal-lines.ts";
import { allowHeld, listHeld, putHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import { writePosition } from "../../daemon/home/positions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { moveMemories } from "../../daemon/remotes/move-memories.ts";
import { addRemote, moveProject } from "../../daemon/remotes/remote-book.ts";
import { turnToService } from "../../daemon/remotes/withhold-private.ts";
import type { AccountId } from "../../shared/ids.ts";
import {
  listTextConflicts,
  recordTextConflict,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
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
  const move = (to: AccountId) => store.write((context) => moveProject(context, PROJECT, to));
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

test("a project that comes to a service is judged as if it were written now", async () => {
  const home = await openHome(PROJECT, ({ document }) => {
    document.setContent(`# P\n\n- ${OWN_LINE}\n`, NOW);
    document.setEntry("memories", "note", { value: `- **${OWN_LINE}**`, now: NOW });
    document.setEntry("memories", "both", { value: "first", now: NOW, seen: [] });
    document.setEntry("memories", "both", { value: OWN_LINE, now: NOW + 1, seen: [] });
    document.setEntry("memories", "fine", { value: "begun", now: NOW });
    document.setEntry("memories", "fine", { value: "edited", now: NOW + 5 });
    document.setEntry("metadata", "rule", { value: OWN_LINE, now: NOW });
    document.setEntry("metadata", "language", { value: "Go", now: NOW });
  });
  await home.edit(LOCAL_ACCOUNT, (open) => open.deleteMemory({ key: "gone", now: NOW }));
  await home.move(home.a);
  const { memories, content } = await home.read(home.a);
  expect([memories, content]).toEqual([{ both: ["first"], fine: ["edited"] }, ""]);
  const place = { account: home.a, code: "personal-lines", shown: true } as const;
  const found = (await home.held()).sort((one, next) => one.key.localeCompare(next.key));
  expect(found).toEqual([
    { ...place, kind: "text", key: "", value: `# P\n\n- ${OWN_LINE}\n` },
    { ...place, kind: "memory", key: "both", value: OWN_LINE },
    { ...place, kind: "memory", key: "note", value: `- **${OWN_LINE}**` },
    { ...place, kind: "metadata", key: "rule", value: JSON.stringify(OWN_LINE) },
  ]);
  expect(await home.sent(home.a)).not.toContain(OWN_LINE);
  const [fine] = await home.store.write(async (context) => {
    return (await context.open(projectDocument(home.a, PROJECT))).document.memories.get("fine");
  });
  expect(fine).toMatchObject({ created_at: NOW, updated_at: NOW + 5 });
});

test("a project that nothing is private in keeps its very entries, and so does one that stays here", async () => {
  const ids = (open: OpenDocument) => open.document.memories.get("note").map(({ id }) => id);
  const read = async ({ store }: Awaited<ReturnType<typeof openHome>>, owner: AccountId) =>
    store.write(async (context) => ids(await context.open(projectDocument(owner, PROJECT))));
  const fine = await openHome(PROJECT, ({ document }) =>
    document.setEntry("memories", "note", { value: "nothing", now: NOW }),
  );
  const before = await read(fine, LOCAL_ACCOUNT);
  await fine.move(fine.a);
  expect([await read(fine, fine.a), await fine.held()]).toEqual([before, []]);
  const own = await openHome(PROJECT, () => {});
  await own.move(own.a);
  await own.edit(own.a, ({ document }) =>
    document.setEntry("memories", "note", { value: OWN_LINE, now: NOW }),
  );
  const there = await read(own, own.a);
  await own.move(LOCAL_ACCOUNT);
  expect([await read(own, LOCAL_ACCOUNT), await own.held()]).toEqual([there, []]);
});

test("what was allowed for a project goes with it", async () => {
  const home = await openHome(PROJECT, ({ document }) =>
    document.setEntry("memories", "note", { value: OWN_LINE, now: NOW }),
  );
  await home.store.write(({ db }) =>
    allowPersonalLines(db, { document: PROJECT, text: OWN_LINE }, NOW),
  );
  await home.move(home.a);
  expect(await home.held()).toEqual([]);
  expect((await home.read(home.a)).memories).toEqual({ note: [OWN_LINE] });
});

test("what is held since a move is let in, and a deletion beside it stays a question", async () => {
  const home = await openHome(PROJECT, (open) => {
    open.document.setEntry("memories", "note", { value: "before", now: NOW });
    open.deleteMemory({ key: "note", now: NOW + 1 });
    const written = { value: OWN_LINE, now: NOW + 2, isBeforeDeletion: true };
    open.document.setEntry("memories", "note", { ...written, seen: [] });
  });
  await home.move(home.a);
  const [item] = await listHeld(home.store.reader);
  await home.store.write(async ({ db }) => item && (await allowHeld(db, item)));
  await drainInbox(home.store);
  expect((await home.read(home.a)).memories).toEqual({ note: [OWN_LINE] });
  const left = await home.store.write(async (context) => {
    return (await context.open(projectDocument(home.a, PROJECT))).document.deletionsOf("note");
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

test("an account that the environment turns to another service is judged before it is sent", async () => {
  const home = await openHome(PROJECT, ({ document }) =>
    document.setEntry("memories", "note", { value: OWN_LINE, now: NOW }),
  );
  const turn = (service: string) =>
    home.store.write((context) => turnToService(context, LOCAL_ACCOUNT, service));
  await home.store.write(async (context) => {
    const { id: documentId } = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
    const position = { remote: { epoch: "e", seq: 1 }, ackedSeq: 1, refused: undefined };
    await writePosition(context.db, "https://b.example.com", { documentId, position });
  });
  await turn("https://b.example.com");
  expect(await home.held()).toEqual([]);
  await turn("https://c.example.com");
  expect(await home.held()).toMatchObject([{ key: "note", value: OWN_LINE, shown: true }]);
  expect(await home.sent(LOCAL_ACCOUNT)).not.toContain(OWN_LINE);
});

test("metadata that two wrote at once are judged one by one, and a held name is in nothing else", async () => {
  const home = await openHome(PROJECT, (open) => {
    const { document } = open;
    document.setEntry("metadata", "rule", { value: OWN_LINE, now: NOW, seen: [] });
    document.setEntry("metadata", "rule", { value: "fine", now: NOW + 1, seen: [] });
    document.setEntry("memories", OWN_LINE, { value: "first", now: NOW });
    open.deleteMemory({ key: OWN_LINE, now: NOW + 1 });
    const again = { value: "a note", now: NOW + 2, seen: [], isBeforeDeletion: true };
    document.setEntry("memories", OWN_LINE, again);
  });
  await home.move(home.a);
  expect((await home.held()).map(({ kind, value }) => [kind, value])).toEqual([
    ["metadata", JSON.stringify(OWN_LINE)],
    ["memory", "a note"],
  ]);
  expect(await home.sent(home.a)).not.toContain(OWN_LINE);
  expect(await home.sent(home.a)).toContain("fine");
});

test("a conflict of the text with a line of one's own goes nowhere, and both versions are held", async () => {
  const home = await openHome(PROJECT, ({ document }) => {
    document.setContent("# P\n\nfine\n", NOW);
    const at = (text: string, machine: string) => ({ text, machine, at: NOW });
    const versions = [at(`${OWN_LINE}\n`, "a"), at("another line\n", "b")] as const;
    recordTextConflict(document, { kind: "both", versions }, { now: NOW });
    const fine = [at("one\n", "a"), at("other\n", "b")] as const;
    recordTextConflict(document, { kind: "both", versions: fine }, { now: NOW });
  });
  await home.move(home.a);
  const { content } = await home.read(home.a);
  expect(content).toBe("# P\n\nfine\n");
  expect((await home.held()).map(({ kind, value, shown }) => [kind, value, shown]).sort()).toEqual([
    ["text", `${OWN_LINE}\n`, false],
    ["text", "another line\n", false],
  ]);
  const left = await home.store.write(async (context) => {
    return listTextConflicts((await context.open(projectDocument(home.a, PROJECT))).document);
  });
  expect(left.map(({ versions }) => versions[0].text)).toEqual(["one\n"]);
  expect(await home.sent(home.a)).not.toContain(OWN_LINE);
});
