import { expect, test } from "bun:test";
import { settledJoinLines } from "../../cli/views/settled-joins.ts";
import { entryReason } from "../../daemon/held/judge.ts";
import { standingTexts } from "../../daemon/held/standing-texts.ts";
import { allowHeld, listHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox, type InboxWrite } from "../../daemon/inbox/inbox.ts";
import { importHome } from "../../daemon/portable/import-home.ts";
import { explain } from "../../shared/reasons.ts";
import { type LocalServices, localServicesOfTests, ME } from "../support/local-services.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";

const PROJECT = projectId("personal-lines");
const WHOLE =
  "# Of all\n\n<!-- memsync:personal begin: mine -->\nmine alone\n<!-- memsync:personal end -->\n";
/** As a program writes it that was not shown the marks. */
const STRIPPED = "# Of all, tidied\n\n- mine alone\n";
const CLEAN = "# Of all, tidied\n";

const PASSAGE = "My doctor is Dr. Ines Kalender, Tuesdays at nine";
const THEN = "2026-01-01T00:00:00.000Z";
const NONE = { code: "no-room" } as const;

const openEmpty = localServicesOfTests({ id: PROJECT });

/** A home whose personal text has the line. */
async function openHome(): Promise<LocalServices> {
  const home = await openEmpty();
  const value = "<!-- memsync:personal version -->\nmine alone\n";
  await home.store.write(({ db }) =>
    keepPersonalVersion(db, { id: "abcdefghij", value, isOwn: true }),
  );
  return home;
}

async function inbox({ store }: LocalServices, write: InboxWrite): Promise<void> {
  await store.write(({ db }) => appendToInbox(db, write));
  await drainInbox(store);
}

const imported = (home: LocalServices, changes: object) => {
  const project = { id: PROJECT, memories: [], claude_md_content: "", metadata: {}, ...changes };
  const whole = { format: 1, projects: [project], user: { memories: [] } };
  return importHome(home.store, { ...whole, global: { memories: [] } }, { own: LOCAL_ACCOUNT });
};

const put = ({ services }: LocalServices, changes: object) =>
  services.projects.put(ME, { id: PROJECT, ...changes });

/** What of the home would go to others. */
async function sent({ store }: LocalServices): Promise<{ content: string; memories: string[] }> {
  return await store.write(async (context) => {
    const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: PROJECT });
    const memories = document.memories.get("k").map(({ value }) => String(value));
    return { content: document.content(), memories };
  });
}

async function reasons({ store }: LocalServices): Promise<string[]> {
  const all = await listHeld(store.reader);
  return all.flatMap(({ reason, shown }) => (shown ? [reason.code] : []));
}

const WAYS: readonly {
  readonly name: string;
  readonly write: (home: LocalServices, value: string) => Promise<unknown>;
}[] = [
  {
    name: "set",
    write: (home, value) => {
      const memory = { kind: "memory", document: PROJECT, key: "k", value } as const;
      return inbox(home, { ...memory, seen: [], writtenAt: 1 });
    },
  },
  { name: "a call", write: (home, value) => put(home, { memories: [{ key: "k", value }] }) },
  {
    name: "an import",
    write: (home, value) => {
      const memory = { key: "k", value, updated_at: THEN };
      return imported(home, { memories: [memory] });
    },
  },
];

for (const { name, write } of WAYS) {
  test(`a line that is in no personal text may be written: ${name}`, async () => {
    const home = await openEmpty();
    await write(home, STRIPPED);
    expect(await sent(home)).toEqual({ content: "", memories: [STRIPPED] });
  });

  test(`a memory with lines of the personal text is held beside a secret, and without it: ${name}`, async () => {
    const home = await openHome();
    await write(home, `${STRIPPED}${PLANTED.github}\n`);
    expect([await reasons(home), (await sent(home)).memories]).toEqual([["looks-like-secret"], []]);
    const [both] = await listHeld(home.store.reader);
    expect(both?.reason).toMatchObject({ personal: [3] });
    await write(home, STRIPPED);
    expect([await reasons(home), (await sent(home)).memories]).toEqual([["personal-lines"], []]);
  });

  test(`a memory with lines of the personal text is held until somebody allows them: ${name}`, async () => {
    const home = await openHome();
    await write(home, STRIPPED);
    expect([await reasons(home), (await sent(home)).memories]).toEqual([["personal-lines"], []]);
    const [held] = (await listHeld(home.store.reader)).filter(({ shown }) => shown);
    expect(held).toMatchObject({ value: STRIPPED, reason: { lines: [3] } });
    await home.store.write(async ({ db }) => held && (await allowHeld(db, held)));
    await drainInbox(home.store);
    expect((await sent(home)).memories).toEqual([STRIPPED]);
    // That they were allowed is remembered for the project.
    const more = `${STRIPPED}and more\n`;
    await write(home, more);
    expect(await reasons(home)).toEqual([]);
    expect((await sent(home)).memories).toContain(more);
  });
}

/** Where else a line may stand, with what becomes of the write. */
const ELSEWHERE: readonly (readonly [what: string, changes: object])[] = [
  ["a key", { memories: [{ key: "Mine alone", value: "x", updated_at: THEN }] }],
  [
    "a file's name",
    { memories: [{ key: "auto-memory/mine-alone.md", value: "x", updated_at: THEN }] },
  ],
  ["metadata", { metadata: { about: "Mine alone." } }],
  ["the midst of metadata", { metadata: { about: { rules: ["a", "x\n- mine alone"] } } }],
  ["a key of metadata", { metadata: { "mine alone": true } }],
  ["a key in metadata", { metadata: { about: { "mine alone": 1 } } }],
  ["a project's name", { name: "mine alone" }],
];

for (const [what, changes] of ELSEWHERE) {
  test(`a line of the personal text is held wherever it stands: ${what}`, async () => {
    for (const write of [put, imported]) {
      if (write === imported && what === "a project's name") continue;
      const home = await openHome();
      await write(home, changes);
      expect(await reasons(home)).toEqual(["personal-lines"]);
      const [held] = await listHeld(home.store.reader);
      expect(explain(held?.reason ?? NONE)).toMatch(
        /^(its key )?has a line of your personal text$/,
      );
      await home.store.write(async ({ db }) => held && (await allowHeld(db, held)));
      await drainInbox(home.store);
      expect(await reasons(home)).toEqual([]);
      await write(home, changes);
      expect(await reasons(home)).toEqual([]);
    }
  });
}

const doc = (home: LocalServices, value: string, base = "") =>
  inbox(home, { kind: "text", document: PROJECT, value, base, writtenAt: 1 });

const TEXT_WAYS: typeof WAYS = [
  { name: "doc", write: doc },
  { name: "a call", write: (home, value) => put(home, { claude_md_content: value }) },
  { name: "an import", write: (home, value) => imported(home, { claude_md_content: value }) },
];

for (const { name, write } of TEXT_WAYS) {
  test(`a text with lines of the personal text is held, with the marks and without: ${name}`, async () => {
    const home = await openHome();
    await write(home, WHOLE);
    expect(await reasons(home)).toEqual(["personal-block"]);
    await write(home, STRIPPED);
    expect([await reasons(home), (await sent(home)).content]).toEqual([["personal-lines"], ""]);
    await write(home, CLEAN);
    expect([await reasons(home), (await sent(home)).content]).toEqual([[], CLEAN]);
  });

  test(`a text with lines that a memory of the project has is not held: ${name}`, async () => {
    const home = await openHome();
    await home.store.write(async (context) => {
      const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: PROJECT });
      document.setEntry("memories", "k", { value: "mine alone", now: 1, seen: [] });
    });
    await write(home, STRIPPED);
    expect([await reasons(home), (await sent(home)).content]).toEqual([[], STRIPPED]);
  });
}

test("who allows a secret allows no line of the personal text beside it, and the other way round", async () => {
  const both = `${STRIPPED}${PLANTED.github}\n`;
  const block = `${WHOLE}${PLANTED.github}\n`;
  const written = { kind: "memory", document: PROJECT, key: "k", seen: [], writtenAt: 1 } as const;
  for (const { value, allows, left } of [
    { value: both, allows: { allowSecret: true }, left: ["personal-lines"] },
    { value: both, allows: { allowPersonal: true }, left: ["looks-like-secret"] },
    { value: block, allows: { allowSecret: true }, left: ["personal-block"] },
    { value: WHOLE, allows: { allowSecret: true }, left: ["personal-block"] },
    { value: both, allows: { allowSecret: true, allowPersonal: true }, left: [] },
    { value: block, allows: { allowSecret: true, allowPersonal: true }, left: [] },
    { value: WHOLE, allows: { allowPersonal: true }, left: [] },
  ]) {
    const home = await openHome();
    await inbox(home, { ...written, value, ...allows });
    expect([allows, value, await reasons(home)]).toEqual([allows, value, left]);
    expect((await sent(home)).memories).toEqual(left.length === 0 ? [value] : []);
  }
});

test("what is allowed once is let in wherever else it is held in that project, and nowhere else", async () => {
  const home = await openHome();
  const memories = ["k", "other"].map((key) => ({ key, value: STRIPPED }));
  await put(home, { memories, metadata: { about: "mine alone" } });
  await put(home, { memories: [{ key: "secret", value: `${STRIPPED}${PLANTED.github}\n` }] });
  const held = await listHeld(home.store.reader);
  expect(held).toHaveLength(4);
  const item = held.find(({ key }) => key === "k");
  await home.store.write(async ({ db }) => item && (await allowHeld(db, item)));
  await drainInbox(home.store);
  expect((await listHeld(home.store.reader)).map(({ key }) => key)).toEqual(["secret"]);
  expect((await sent(home)).memories).toEqual([STRIPPED]);
});

test("what is allowed in one project lets in nothing of another, and nothing held for more", async () => {
  const home = await openHome();
  const OTHER = projectId("personal-lines-2");
  const secret = `token ${PLANTED.github}\n`;
  await put(home, {
    memories: [
      { key: "k", value: secret },
      { key: "both", value: secret + STRIPPED },
    ],
  });
  await put(home, { id: OTHER, memories: [{ key: "k", value: secret }] });
  const [item] = (
    await listHeld(home.store.reader, { account: LOCAL_ACCOUNT, document: PROJECT })
  ).filter(({ key }) => key === "k");
  await home.store.write(async ({ db }) => item && (await allowHeld(db, item)));
  await drainInbox(home.store);
  const left = (await listHeld(home.store.reader)).map(({ document, key }) => [document, key]);
  expect(left.sort()).toEqual(
    [
      [PROJECT, "both"],
      [OTHER, "k"],
    ].sort(),
  );
});

test("metadata that others have written since stay held when their secret is allowed elsewhere", async () => {
  for (const wroteSince of [true, false]) {
    const home = await openHome();
    const secret = `token ${PLANTED.github}`;
    await put(home, { memories: [{ key: "k", value: secret }], metadata: { note: secret } });
    const notes = (write?: string) =>
      home.store.write(async (context) => {
        const open = await context.open({ owner: LOCAL_ACCOUNT, name: PROJECT });
        const { document } = open;
        if (write !== undefined)
          document.setEntry("metadata", "note", { value: write, now: context.now });
        await context.flush(open);
        return document.metadata.get("note").map(({ value }) => value);
      });
    if (wroteSince) await notes("Ben's");
    const item = (await listHeld(home.store.reader)).find(({ kind }) => kind === "memory");
    await home.store.write(async ({ db }) => item && (await allowHeld(db, item)));
    await drainInbox(home.store);
    expect(await notes()).toEqual([wroteSince ? "Ben's" : secret]);
    expect((await listHeld(home.store.reader)).map(({ key }) => key)).toEqual(
      wroteSince ? ["note"] : [],
    );
  }
});

test("an import of a home holds what its own personal text has in a project", async () => {
  const home = await openEmpty();
  const personal = { key: PERSONAL_KEY, value: `${PASSAGE}\nmine alone\n`, updated_at: THEN };
  const noted = [STRIPPED, `Ask: ${PASSAGE.toLowerCase()}!`].map((value, at) => ({
    key: `k${at}`,
    value,
    updated_at: THEN,
  }));
  const named = { key: "Mine alone.md", value: "nothing\n", updated_at: THEN };
  const project = {
    id: PROJECT,
    memories: [...noted, named],
    claude_md_content: STRIPPED,
    metadata: { about: "mine alone" },
  };
  const whole = { format: 1, projects: [project], user: { memories: [personal] } };
  await importHome(
    home.store,
    { ...whole, global: { memories: [{ ...named, key: "g", value: STRIPPED }] } },
    { own: LOCAL_ACCOUNT },
  );
  const held = (await listHeld(home.store.reader)).map(({ key }) => key);
  expect(held.sort()).toEqual(["", "Mine alone.md", "about", "g", "k0", "k1"]);
  expect(await sent(home)).toEqual({ content: "", memories: [] });
});

test("a look that opens no document knows which lines the project has already", async () => {
  const home = await openHome();
  const judge = async () => {
    const others = () => standingTexts(home.store.reader, PROJECT);
    const place = { document: PROJECT, already: [], others };
    return await entryReason(home.store.reader, { key: "k", value: STRIPPED }, place);
  };
  expect(await judge()).toEqual({ code: "personal-lines", lines: [3] });
  for (const change of [
    { claude_md_content: "Mine alone." },
    { memories: [{ key: "mine-alone", value: "a key" }] },
    { metadata: { rules: ["mine alone"] } },
  ]) {
    const other = await openEmpty();
    await put(other, change);
    const value = "<!-- memsync:personal version -->\nmine alone\n";
    await other.store.write(({ db }) =>
      keepPersonalVersion(db, { id: "abcdefghij", value, isOwn: true }),
    );
    const others = () => standingTexts(other.store.reader, PROJECT);
    const place = { document: PROJECT, already: [], others };
    const memory = { key: "k", value: STRIPPED };
    expect(await entryReason(other.store.reader, memory, place)).toBeUndefined();
  }
});

test("a link says what is held of what it has joined, and tells two projects of one name apart", () => {
  const link = { dir: "/d", projectId: PROJECT, name: "p", write: false };
  const left = { ...link, projectId: projectId("left") };
  const bound = { ...link, remote: "a", begun: false, gone: [], lost: [], past: undefined };
  const moved = { kind: "join", isPastKnown: true, undated: [], deleted: [] } as const;
  const none = { deletedBefore: undefined, textBefore: undefined, joins: undefined };
  const after = { left, moved, ...none };
  const lines = (held: number) => settledJoinLines({ ...bound, ...after, held });
  expect(lines(0)).toEqual([expect.stringContaining(`had is in ${PROJECT}, too. Other`)]);
  expect(lines(1)[1]).toBe("of that, 1 write is held on this machine: `memsync held` says why");
});
