import { beforeEach, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { LOCAL_ACCOUNT } from "../../daemon/gateway/mount.ts";
import { heldAdvice } from "../../daemon/held/advice.ts";
import { allowHeld, listHeld } from "../../daemon/home/held-store.ts";
import { applyAllowed } from "../../daemon/inbox/apply-allowed.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox } from "../../daemon/inbox/inbox.ts";
import { EXPORT_FORMAT } from "../../daemon/portable/format.ts";
import { importHome } from "../../daemon/portable/import-home.ts";
import { readCommittedText } from "../../daemon/reading/local-text.ts";
import type { JsonObject } from "../../shared/json.ts";
import { listOpenConflicts } from "../../shared/replica/conflicts/shared-version.ts";
import { type LocalServices, localServicesOfTests, ME } from "../support/local-services.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";

const PROJECT = projectId("left-texts");
const ADDRESS = { owner: LOCAL_ACCOUNT, name: PROJECT };
const FIRST = "# Shop\n";
const HELD = `${FIRST}step one, then step two\nGITHUB_TOKEN=${PLANTED.github}\n`;
/** All of it but its secret. */
const CLEAN = `${FIRST}step one, then step two\nGITHUB_TOKEN=<yours>\n`;

let store: LocalServices["store"];
let services: LocalServices["services"];
const open = localServicesOfTests({ id: PROJECT, claude_md_content: FIRST });

beforeEach(async () => {
  ({ store, services } = await open());
});

async function imported(text: string, metadata: JsonObject) {
  const project = { id: PROJECT, claude_md_content: text, metadata, memories: [] };
  const none = { memories: [] };
  const home = { format: EXPORT_FORMAT, projects: [project], user: none, global: none } as const;
  return await importHome(store, home, { own: LOCAL_ACCOUNT });
}

const contentNow = () =>
  store.write(async (context) => (await context.open(ADDRESS)).document.content());

/** Each way in which something of this machine replaces a project's text. */
const TEXT_WRITERS = {
  async interface(value: string) {
    await services.projects.put(ME, { id: PROJECT, claude_md_content: value });
  },
  async sync(value: string) {
    const payload = { claude_md_content: value };
    await services.sync.apply(ME, PROJECT, { payload, createMissing: false });
  },
  async inbox(value: string) {
    const seen = await readCommittedText(store.reader, PROJECT);
    const base = seen?.value ?? "";
    const write = { kind: "text", document: PROJECT, base, value, writtenAt: 1 } as const;
    await store.write(({ db }) => appendToInbox(db, { ...write, seenSeq: seen?.seenSeq }));
    await drainInbox(store);
  },
  async import(value: string) {
    await imported(value, {});
  },
};

const METADATA_WRITERS = {
  async interface(value: string) {
    await services.projects.put(ME, { id: PROJECT, metadata: { note: value } });
  },
  async sync(value: string) {
    const payload = { metadata: { note: value } };
    await services.sync.apply(ME, PROJECT, { payload, createMissing: false });
  },
  async import(value: string) {
    await imported("", { note: value });
  },
};

const held = async () => (await listHeld(store.reader)).map(({ value, shown }) => [value, shown]);

async function allow(): Promise<void> {
  const [item] = await listHeld(store.reader);
  assert(item);
  await store.write(async (context) => {
    await allowHeld(context.db, item);
    await applyAllowed(context);
  });
}

for (const [name, write] of Object.entries(TEXT_WRITERS)) {
  test(`${name}: a held text that is written over stays as what was left`, async () => {
    await write(HELD);
    expect(await held()).toEqual([[HELD, true]]);
    await write(`${FIRST}short\n`);
    expect([await held(), await contentNow()]).toEqual([[[HELD, false]], `${FIRST}short\n`]);
    const [item] = await listHeld(store.reader);
    assert(item);
    expect(heldAdvice(item)).toContain("written over or deleted since; `memsync held drop");
    await write(`${CLEAN}and more\n`);
    expect(await held()).toEqual([]);
  });

  test(`${name}: of a text where only the secret is gone nothing is left`, async () => {
    await write(HELD);
    await write(CLEAN);
    expect([await held(), await contentNow()]).toEqual([[], CLEAN]);
  });

  test(`${name}: a held text over another leaves that one, once however often`, async () => {
    const other = `${FIRST}something else\npassword: ${PLANTED.otherGithub}\n`;
    for (const value of [HELD, other, HELD, other]) await write(value);
    expect(await held()).toEqual([
      [HELD, false],
      [other, true],
    ]);
  });

  test(`${name}: a left text that is allowed stands beside what was written since`, async () => {
    await write(HELD);
    await write(`${FIRST}step one, then step two\nof another\n`);
    await allow();
    const lines = (await contentNow()).split("\n").sort();
    expect(lines).toEqual([...HELD.split("\n"), "of another"].sort());
    expect(await held()).toEqual([]);
  });
}

test("a left text and what was written at its place since are a conflict once it is allowed", async () => {
  await TEXT_WRITERS.interface(`${FIRST}Ask Ann.\n`);
  await TEXT_WRITERS.interface(`${FIRST}Ask Ann with ${PLANTED.github}\n`);
  await TEXT_WRITERS.interface(`${FIRST}Ask Bob.\n`);
  await allow();
  await store.write(async (context) => {
    const { document } = await context.open(ADDRESS);
    const lines = document.content().split("\n").sort();
    expect(lines).toEqual(["", "# Shop", `Ask Ann with ${PLANTED.github}`, "Ask Bob."].sort());
    expect(listOpenConflicts(document)).toHaveLength(1);
  });
});

test("of many left texts the oldest become one, and no line is lost or doubled", async () => {
  const texts = Array.from(
    { length: 20 },
    (_, at) => `${FIRST}line ${at} of ann\n${PLANTED.github}\n`,
  );
  for (const value of [...texts, `${FIRST}short\n`]) await TEXT_WRITERS.interface(value);
  const left = (await held()).map(([value]) => String(value));
  expect(left.length).toBeLessThanOrEqual(8);
  const all = left.join("\n").split("\n");
  expect(texts.flatMap((text) => text.split("\n")).filter((line) => !all.includes(line))).toEqual(
    [],
  );
  await allow();
  const lines = (await contentNow()).split("\n");
  expect(lines.filter((line) => line === "# Shop")).toHaveLength(1);
});

for (const [name, write] of Object.entries(METADATA_WRITERS)) {
  test(`${name}: held metadata that is written over stays as what was left`, async () => {
    const secret = `use ${PLANTED.github} of ann`;
    await write("first");
    await write(secret);
    expect(await held()).toEqual([[JSON.stringify(secret), true]]);
    await write("second");
    await write("third");
    expect(await held()).toEqual([[JSON.stringify(secret), false]]);
    await write("use <yours> of ann");
    expect(await held()).toEqual([]);
  });
}

test("left metadata that is allowed is the value, for no conflict would tell of it", async () => {
  for (const value of ["first", PLANTED.github, "second"]) await METADATA_WRITERS.interface(value);
  await allow();
  const { metadata } = await services.sync.read(ME, PROJECT);
  expect([metadata, await held()]).toEqual([{ note: PLANTED.github }, []]);
});

test("whoever sends back metadata as it was read leaves what is held as it is", async () => {
  await METADATA_WRITERS.interface("first");
  await METADATA_WRITERS.interface(PLANTED.github);
  const before = await listHeld(store.reader);
  await METADATA_WRITERS.interface("first");
  await METADATA_WRITERS.interface(PLANTED.github);
  expect(await listHeld(store.reader)).toEqual(before);
});

test("an import counts what it leaves of texts and metadata", async () => {
  await imported(HELD, { note: PLANTED.github });
  expect(await imported("other\n", { note: "other" })).toMatchObject({ texts: 1, left_held: 2 });
});
