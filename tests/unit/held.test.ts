import { expect, test } from "bun:test";
import { searchLocalMemories } from "../../cli/search/local-search.ts";
import { memoryJson } from "../../cli/views/memory-view.ts";
import { LOCAL_ACCOUNT } from "../../daemon/gateway/mount.ts";
import { heldReason } from "../../daemon/held/advice.ts";
import { allowHeld, dropJust, listHeld } from "../../daemon/home/held-store.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox, type InboxWrite } from "../../daemon/inbox/inbox.ts";
import { importHome } from "../../daemon/portable/import-home.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { type LocalServices, localServicesOfTests, ME } from "../support/local-services.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";
import { EVERYTHING, refusal } from "../support/test-services.ts";

const PROJECT = projectId("held");
const SECRET = `token ${PLANTED.github}`;

const openHome = localServicesOfTests({ id: PROJECT });

function set({ services }: LocalServices, key: string, content: string) {
  return services.memories.create(
    ME,
    { key, content, layer: "project" },
    { headerProjectId: PROJECT },
  );
}

async function listed({ services }: LocalServices, query: object = {}) {
  const page = await services.memories.list(ME, { ...EVERYTHING, projectId: PROJECT, ...query });
  return page.items.map(({ key, content }) => [key, content]);
}

function inDocument<Value>(
  { store }: LocalServices,
  look: (open: OpenDocument) => Value,
): Promise<Value> {
  return store.write(async (context) =>
    look(await context.open({ owner: LOCAL_ACCOUNT, name: PROJECT })),
  );
}

const valuesOf = (home: LocalServices, key: string) =>
  inDocument(home, ({ document }) => document.memories.get(key).map(({ value }) => value));

/** A write that came from another machine: no entry that is here is replaced by it. */
const writtenElsewhere = (home: LocalServices, key: string, value: string) =>
  inDocument(home, ({ document }) =>
    document.setEntry("memories", key, { value, now: Date.now(), seen: [] }),
  );

async function inbox(home: LocalServices, ...writes: readonly InboxWrite[]): Promise<void> {
  await home.store.write(async ({ db }) => {
    for (const write of writes) await appendToInbox(db, write);
  });
  await drainInbox(home.store);
}

const memory = (key: string, value: string | undefined, changes: object = {}): InboxWrite => {
  return { kind: "memory", document: PROJECT, key, value, seen: [], writtenAt: 1, ...changes };
};

async function updatesHold({ store }: LocalServices, text: string): Promise<boolean> {
  const rows = await store.reader.selectFrom("updates").select("payload").orderBy("seq").execute();
  return rows.some(({ payload }) => Buffer.from(payload).includes(text));
}

test("a memory that holds a secret is shown everywhere here, and in no update", async () => {
  const home = await openHome();
  await set(home, "plain", "as ever");
  const created = await set(home, "deploy", SECRET);
  expect(created).toMatchObject({ key: "deploy", content: SECRET });
  expect(await listed(home)).toEqual([
    ["plain", "as ever"],
    ["deploy", SECRET],
  ]);
  expect(await listed(home, { q: "token" })).toEqual([["deploy", SECRET]]);
  for (const [q, isFound] of [
    ["token", true],
    ["TÓKEN", true],
    ["oken", false],
    ["deploy", true],
    ["eploy", false],
    ["plain ever", true],
    // An answer to a guess would tell what is held.
    ["ghp", false],
    [PLANTED.github, false],
  ] as const) {
    const place = { account: LOCAL_ACCOUNT, document: PROJECT };
    const found = await searchLocalMemories(home.store.reader, [place], { text: q });
    expect([q, found.length]).toEqual([q, isFound ? 1 : 0]);
    expect(await listed(home, { q })).toEqual(
      found.map(({ memory: { key, value } }) => [key, value]),
    );
  }
  expect(await listed(home, { limit: 1 })).toEqual([["plain", "as ever"]]);
  const { memories } = await home.services.projects.get(ME, PROJECT);
  expect(memories.map(({ key }) => key)).toEqual(["plain", "deploy"]);
  const local = await readLocalMemories(home.store.reader, PROJECT);
  expect(local.map(memoryJson)).toMatchObject([
    { key: "plain", saved: "replica" },
    { key: "deploy", value: SECRET, saved: "held", held_code: "looks-like-secret" },
  ]);
  expect(await updatesHold(home, "as ever")).toBe(true);
  expect(await updatesHold(home, PLANTED.github)).toBe(false);
  const [held] = await listHeld(home.store.reader);
  expect(held?.reason).toMatchObject({ code: "looks-like-secret", like: "a GitHub token" });
  expect(held && heldReason(held)).toBe("looks like a GitHub token");
});

test("pages over what is held and what is not give each memory once", async () => {
  const home = await openHome();
  for (let at = 0; at < 7; at++) await set(home, `k${at}`, at % 3 === 1 ? `${SECRET}` : `v${at}`);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { ...EVERYTHING, projectId: PROJECT, limit: 2, cursor };
    const page = await home.services.memories.list(ME, query);
    expect(page.total).toBe(7);
    seen.push(...page.items.map(({ key }) => key));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen.sort()).toEqual(["k0", "k1", "k2", "k3", "k4", "k5", "k6"]);
});

test("a clean write takes the place of a held one, and deletes nothing its author missed", async () => {
  const home = await openHome();
  await set(home, "k", "first");
  await set(home, "k", SECRET);
  await writtenElsewhere(home, "k", "of another machine");
  expect(await listed(home)).toEqual([["k", SECRET]]);
  await set(home, "k", "clean");
  expect(await listHeld(home.store.reader)).toMatchObject([{ value: SECRET, shown: false }]);
  expect((await valuesOf(home, "k")).sort()).toEqual(["clean", "of another machine"]);
});

test("a second secret replaces the held one and still replaces what the first one saw", async () => {
  const home = await openHome();
  await set(home, "k", "first");
  await set(home, "k", SECRET);
  await writtenElsewhere(home, "k", "of another machine");
  await set(home, "k", `again ${PLANTED.otherGithub}`);
  expect(await listed(home)).toEqual([["k", `again ${PLANTED.otherGithub}`]]);
  await set(home, "k", "clean");
  expect((await valuesOf(home, "k")).sort()).toEqual(["clean", "of another machine"]);
});

test("a held memory is deleted with what it was to replace", async () => {
  const home = await openHome();
  await set(home, "k", "first");
  const { id } = await set(home, "k", SECRET);
  await home.services.memories.remove(ME, id);
  expect(await listed(home)).toEqual([]);
  expect(await valuesOf(home, "k")).toEqual([]);
  expect(await refusal(() => home.services.memories.remove(ME, id))).toBe("not_found");
});

test("a held memory is deleted without what others have written since, unseen", async () => {
  const home = await openHome();
  await set(home, "deploy", "plain");
  const { id } = await set(home, "deploy", SECRET);
  await writtenElsewhere(home, "deploy", "of another machine");
  await home.services.memories.remove(ME, id);
  expect(await valuesOf(home, "deploy")).toEqual(["of another machine"]);
  expect(await listed(home)).toEqual([["deploy", "of another machine"]]);
});

test("what is in a document already, from wherever, is no secret to it", async () => {
  const home = await openHome();
  await writtenElsewhere(home, "k", SECRET);
  await set(home, "k", `${SECRET}, changed`);
  expect(await listHeld(home.store.reader)).toEqual([]);
  expect(await valuesOf(home, "k")).toEqual([`${SECRET}, changed`]);
});

test("a sync that brings one secret among many saves the others", async () => {
  const home = await openHome();
  const memories = Array.from({ length: 50 }, (_, at) => {
    return { key: `k${at}`, value: at === 20 ? SECRET : `v${at}` };
  });
  const payload = { memories, claude_md_content: "# One\n", metadata: { note: SECRET, a: 1 } };
  const answer = await home.services.sync.apply(ME, PROJECT, { payload, createMissing: false });
  expect(answer.memories).toHaveLength(50);
  expect(answer.memories).toContainEqual({ key: "k20", value: SECRET });
  expect(answer.metadata).toEqual({ a: 1 });
  const held = await listHeld(home.store.reader);
  expect(held.map(({ kind, key }) => [kind, key]).sort()).toEqual([
    ["memory", "k20"],
    ["metadata", "note"],
  ]);
  const again = { memories: answer.memories, claude_md_content: answer.claude_md_content };
  await home.services.sync.apply(ME, PROJECT, { payload: again, createMissing: false });
  expect(await listHeld(home.store.reader)).toEqual(held);
  expect(await updatesHold(home, PLANTED.github)).toBe(false);
});

test("a text with a secret is held; the next one counts from what its author saw", async () => {
  const home = await openHome();
  const put = (claude_md_content: string) =>
    home.services.projects.put(ME, { id: PROJECT, claude_md_content });
  const shown = async () => (await home.services.projects.get(ME, PROJECT)).claudeMdContent;
  await put("# One\n");
  await put(`# One\n${SECRET}\n`);
  expect(await shown()).toBe(`# One\n${SECRET}\n`);
  expect(await inDocument(home, ({ document }) => document.content())).toBe("# One\n");
  await inDocument(home, ({ document }) => document.setContent("# One\nof another\n", 5));
  await put("# One\nclean\n");
  const content = await shown();
  expect(content?.split("\n").sort()).toEqual(["", "# One", "clean", "of another"].sort());
  const written = await listHeld(home.store.reader);
  expect(written).toMatchObject([{ value: `# One\n${SECRET}\n`, shown: false }]);
});

test("what was saved without a daemon is scanned when it is taken over", async () => {
  const home = await openHome();
  await inbox(home, memory("k", SECRET), memory("fine", "v"), memory("meant", SECRET));
  expect((await listHeld(home.store.reader)).map(({ key }) => key)).toEqual(["k", "meant"]);
  await inbox(home, memory("k", "clean"), memory("meant", undefined));
  const left = (await listHeld(home.store.reader)).map(({ key, shown }) => [key, shown]);
  expect(left).toEqual([
    ["k", false],
    ["meant", false],
  ]);
  expect(await listed(home)).toEqual(
    [
      ["k", "clean"],
      ["fine", "v"],
    ].sort() as never,
  );
});

test("what a person allows is allowed from then on, here and in any other write", async () => {
  const home = await openHome();
  await set(home, "k", SECRET);
  const [held] = await listHeld(home.store.reader);
  await home.store.write(async ({ db }) => {
    if (held) await allowHeld(db, held);
  });
  await drainInbox(home.store);
  expect(await listHeld(home.store.reader)).toEqual([]);
  expect(await valuesOf(home, "k")).toEqual([SECRET]);
  await set(home, "other", `the same ${PLANTED.github}`);
  await set(home, "third", PLANTED.otherGithub);
  expect((await listHeld(home.store.reader)).map(({ key }) => key)).toEqual(["third"]);
  await inbox(home, memory("third", PLANTED.otherGithub, { allowSecret: true }));
  expect(await listHeld(home.store.reader)).toEqual([]);
  expect(await valuesOf(home, "third")).toEqual([PLANTED.otherGithub]);
});

test("what is written anew meanwhile is neither dropped nor allowed in its stead", async () => {
  const home = await openHome();
  await set(home, "k", SECRET);
  const [first] = await listHeld(home.store.reader);
  if (!first) throw new Error("it is held");
  await set(home, "k", `another ${PLANTED.slack}`);
  await home.store.write(async ({ db }) => {
    expect(await dropJust(db, first)).toBe(false);
    expect(await allowHeld(db, first)).toBe(false);
  });
  await drainInbox(home.store);
  expect(await listed(home)).toEqual([["k", `another ${PLANTED.slack}`]]);
  expect(await updatesHold(home, PLANTED.slack)).toBe(false);
  const second = (await listHeld(home.store.reader)).find(({ shown }) => shown);
  await home.store.write(async ({ db }) => {
    expect(second && (await dropJust(db, second))).toBe(true);
    expect(await allowHeld(db, first)).toBe(false);
  });
  expect(await listed(home)).toEqual([]);
});

test("a secret in a memory's key is held however it was written", async () => {
  const home = await openHome();
  const at = "2026-01-01T00:00:00.000Z";
  await set(home, PLANTED.github, "by the gateway");
  await inbox(home, memory(PLANTED.slack, "without a daemon"));
  const memories = [{ key: PLANTED.npm, value: "imported", updated_at: at }];
  const nothing = { format: 1, projects: [], user: { memories: [] } };
  await importHome(home.store, { ...nothing, global: { memories } }, { own: LOCAL_ACCOUNT });
  for (const secret of [PLANTED.github, PLANTED.slack, PLANTED.npm]) {
    expect(await updatesHold(home, secret)).toBe(false);
  }
  await inbox(home, memory(PLANTED.slack, "meant", { allowSecret: true }));
  expect(await valuesOf(home, PLANTED.slack)).toEqual(["meant"]);
});

test("many secrets are allowed all, and hide no other one behind them", async () => {
  const home = await openHome();
  const piece = (from: number) =>
    Array.from({ length: 400 }, (_, at) => {
      const digits = `${from + at}`.padStart(6, "0");
      return `${PLANTED.github.slice(0, -6)}${digits} ${"of no use ".repeat(40)}\n`;
    }).join("");
  const many = piece(0) + piece(400);
  await inbox(home, memory("many", many, { allowSecret: true }));
  expect(await valuesOf(home, "many")).toEqual([many]);
  await inbox(home, memory("more", `${many}${PLANTED.slack}\n`));
  expect(await valuesOf(home, "more")).toEqual([]);
  expect(await listHeld(home.store.reader)).toMatchObject([
    { key: "more", reason: { code: "looks-like-secret", like: "a Slack token", line: 801 } },
  ]);
});

test("a drained inbox tells whether something is no secret any more", async () => {
  const home = await openHome();
  const drained = async (...writes: readonly InboxWrite[]) => {
    await home.store.write(async ({ db }) => {
      for (const write of writes) await appendToInbox(db, write);
    });
    return await drainInbox(home.store);
  };
  expect(await drained()).toEqual({ writes: 0, allows: false });
  expect(await drained(memory("k", SECRET), memory("l", "v"))).toEqual({
    writes: 2,
    allows: false,
  });
  const allowed = memory("k", SECRET, { allowSecret: true });
  expect(await drained(allowed)).toEqual({ writes: 1, allows: true });
  await drained(memory("m", PLANTED.slack));
  await home.store.write(async ({ db }) => {
    for (const item of await listHeld(db)) await allowHeld(db, item);
  });
  expect(await drained()).toEqual({ writes: 0, allows: true });
  expect(await listHeld(home.store.reader)).toEqual([]);
});
