import { beforeEach, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { LOCAL_ACCOUNT } from "../../daemon/gateway/mount.ts";
import { allowHeld, listHeld, putHeld } from "../../daemon/home/held-store.ts";
import { applyAllowed } from "../../daemon/inbox/apply-allowed.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox } from "../../daemon/inbox/inbox.ts";
import { replaceHeld } from "../../daemon/overwritten/replace-held.ts";
import { importMemories } from "../../daemon/portable/import-memories.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { type LocalServices, localServicesOfTests, ME } from "../support/local-services.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";
import { EVERYTHING } from "../support/test-services.ts";

const PROJECT = projectId("left-memories");
const PLACE = { account: LOCAL_ACCOUNT, document: PROJECT, key: "deploy" };
const ADDRESS = { owner: LOCAL_ACCOUNT, name: PROJECT };
const NOTES = "step one, then step two";
const HELD = `${NOTES}\nGITHUB_TOKEN=${PLANTED.github}\n`;
/** All of it but its secret. */
const CLEAN = `${NOTES}\nGITHUB_TOKEN=<yours>\n`;

let store: LocalServices["store"];
let services: LocalServices["services"];
const open = localServicesOfTests({ id: PROJECT });

beforeEach(async () => {
  ({ store, services } = await open());
});

/** Each way in which something else of this machine writes a memory. Undefined deletes it. */
const WRITERS = {
  async interface(value: string | undefined) {
    if (value !== undefined) {
      const memory = { key: PLACE.key, content: value, layer: "project" } as const;
      await services.memories.create(ME, memory, { headerProjectId: PROJECT });
      return;
    }
    const { items } = await services.memories.list(ME, { ...EVERYTHING, projectId: PROJECT });
    const found = items.find(({ key }) => key === PLACE.key);
    assert(found);
    await services.memories.remove(ME, found.id);
  },
  async inbox(value: string | undefined) {
    const known = await readLocalMemories(store.reader, PROJECT);
    const seen = known.find(({ key }) => key === PLACE.key)?.seen ?? [];
    const write = { kind: "memory", ...PLACE, value, seen, writtenAt: 1 } as const;
    await store.write(({ db }) => appendToInbox(db, write));
    await drainInbox(store);
  },
  async import(value: string | undefined) {
    if (value === undefined) return await WRITERS.inbox(value);
    await store.write(async (context) => {
      const open = await context.open(ADDRESS);
      const memory = { key: PLACE.key, value, updated_at: "2026-01-01T00:00:00.000Z" };
      await importMemories(context, open, { memories: [memory], onMemory: () => {} });
      await context.flush(open);
    });
  },
};

const valuesNow = () =>
  store.write(async (context) =>
    (await context.open(ADDRESS)).document.memories.get(PLACE.key).map(({ value }) => value),
  );

/** What is held of the memory: its text, and whether the memory shows it. */
const held = async () => (await listHeld(store.reader)).map(({ value, shown }) => [value, shown]);

for (const [name, write] of Object.entries(WRITERS)) {
  test(`${name}: what was held and is written over stays as what was left`, async () => {
    await write(HELD);
    expect(await held()).toEqual([[HELD, true]]);
    await write("short\n");
    expect(await held()).toEqual([[HELD, false]]);
    expect(await valuesNow()).toEqual(["short\n"]);
    await write("of another kind\n");
    expect(await held()).toEqual([[HELD, false]]);
    await write(`${CLEAN}and more\n`);
    expect(await held()).toEqual([]);
  });

  test(`${name}: where only the secret is gone nothing is left`, async () => {
    await write("first\n");
    await write(`first\n${HELD}`);
    await write(CLEAN);
    expect(await held()).toEqual([]);
    await write(`first GITHUB_TOKEN=${PLANTED.github}\n`);
    await write("first GITHUB_TOKEN=<yours>\n");
    expect(await held()).toEqual([]);
  });

  test(`${name}: what is held and deleted is left, too, and comes back where it is allowed`, async () => {
    await write("first\n");
    await write(HELD);
    await write(undefined);
    expect([await held(), await valuesNow()]).toEqual([[[HELD, false]], []]);
    const [item] = await listHeld(store.reader);
    assert(item);
    await store.write(async (context) => {
      await allowHeld(context.db, item);
      await applyAllowed(context);
    });
    expect([await held(), await valuesNow()]).toEqual([[], [HELD]]);
  });

  test(`${name}: a held text over another leaves that one, once however often`, async () => {
    const other = `something else\npassword: ${PLANTED.otherGithub}\n`;
    for (const value of [HELD, other, HELD, other]) await write(value);
    expect(await held()).toEqual([
      [HELD, false],
      [other, true],
    ]);
    await write("short\n");
    expect((await held()).sort()).toEqual(
      [
        [HELD, false],
        [other, false],
      ].sort(),
    );
  });
}

test("of many left texts the oldest become one, and no line is lost", async () => {
  const texts = Array.from({ length: 20 }, (_, at) => `line ${at} of ann\n${HELD}`);
  for (const value of [...texts, "short\n"]) await WRITERS.inbox(value);
  const left = await held();
  expect(left.length).toBeLessThanOrEqual(8);
  const all = left.map(([value]) => value).join("\n");
  expect(texts.flatMap((text) => text.split("\n")).filter((line) => !all.includes(line))).toEqual(
    [],
  );
});

test("what the service refused is in the history, unless it was to be tried again", async () => {
  const refused = {
    kind: "memory",
    ...PLACE,
    value: NOTES,
    seen: [],
    cause: "refused",
    reason: { code: "service-refused", said: "no" },
    writtenAt: 1,
  } as const;
  for (const retryBatch of [undefined, 1]) {
    await store.write(async ({ db }) => {
      await putHeld(db, { ...refused, retryBatch });
      await replaceHeld(db, { kind: "memory", ...PLACE }, { base: undefined, value: "short" });
    });
    const left = retryBatch === undefined ? [] : [{ shown: false, retryBatch: undefined }];
    expect(await listHeld(store.reader)).toMatchObject(left);
  }
});
