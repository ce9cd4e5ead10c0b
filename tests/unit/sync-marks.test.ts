import { afterEach, expect, test } from "bun:test";
import type { DocumentRequest } from "../../shared/wire/exchange.ts";
import { projectId } from "../support/project-id.ts";
import type { TempStoreOptions } from "../support/temp-store.ts";
import {
  caller,
  createTestServices,
  EVERYTHING,
  refusal,
  type TestServices,
} from "../support/test-services.ts";
import { waitFor } from "../support/wait-for.ts";
import { watched } from "../support/watched-connection.ts";

const [A, B] = [projectId("proj_a"), projectId("proj_b")];
const ME = caller();
const START = "2026-01-01T00:00:00.000Z";
const LATER = "2026-01-01T00:00:00.400Z";

const opened: TestServices[] = [];
afterEach(async () => {
  for (const { temp } of opened.splice(0)) await temp.remove();
});

/** Two projects, of which B was synced last. */
async function twoProjects(options?: TempStoreOptions): Promise<TestServices> {
  const served = await createTestServices(options);
  opened.push(served);
  for (const [id, value] of [
    [A, "of a"],
    [B, "of b"],
  ] as const) {
    const payload = { memories: [{ key: "k", value }] };
    await served.services.sync.apply(caller({ tokenId: "other" }), id, {
      payload,
      createMissing: true,
    });
  }
  await served.temp.store.settle();
  return served;
}

async function poll({ services }: TestServices, documents: { project?: DocumentRequest } = {}) {
  return await services.sync.exchange(ME, A, { documents, createMissing: false });
}

/** As another process sees it. */
async function stored({ temp }: TestServices) {
  return await temp.store.reader
    .selectFrom("documents")
    .select(["name", "sync_count", "last_synced_at"])
    .orderBy("name")
    .execute();
}

const SYNCED_ONCE = { sync_count: 1, last_synced_at: Date.parse(START) };

test("a call that brings nothing new commits nothing, and is seen by who asks", async () => {
  const served = await twoProjects();
  const { temp, services } = served;
  const { documents } = await poll(served, { project: {} });
  await temp.store.settle();
  const [head] = [documents.project];
  if (!head || !("seq" in head)) throw new Error("the document was not served");
  const before = temp.store.version;
  temp.world.advance(400);
  for (let at = 0; at < 3; at++) {
    const position = { epoch: head.epoch, seq: head.seq };
    expect((await poll(served, { project: { position } })).documents.project).toEqual(position);
  }
  expect(temp.store.version).toBe(before);
  // Nobody of another account waits for it.
  await services.projects.list(caller({ account: "acct_other" }), {
    limit: undefined,
    cursor: undefined,
  });
  expect(temp.store.version).toBe(before);
  expect((await services.projects.get(ME, A)).project.last_synced_at).toBe(LATER);
  const { syncs } = await services.stats.get(ME);
  expect(syncs).toEqual({ total: 2 + 1 + 3, last_synced_at: LATER });
});

test("which project was synced last is known at once", async () => {
  const served = await twoProjects();
  const list = async () => (await served.services.memories.list(ME, EVERYTHING)).items;
  served.temp.world.advance(1);
  await served.services.sync.exchange(ME, B, { documents: {}, createMissing: false });
  expect((await list()).map(({ content }) => content)).toEqual(["of b"]);
  served.temp.world.advance(1);
  await poll(served);
  expect((await list()).map(({ content }) => content)).toEqual(["of a"]);
});

test("syncs are counted within a second, and when the store is closed", async () => {
  const served = await twoProjects();
  await poll(served);
  await poll(served);
  expect(await stored(served)).toMatchObject([SYNCED_ONCE, SYNCED_ONCE]);
  served.temp.world.advance(1000);
  await waitFor("the counts to be written", async () => {
    return (await stored(served))[0]?.sync_count === 3;
  });
  await poll(served);
  await served.temp.reopen();
  const last_synced_at = Date.parse(START) + 1000;
  expect(await stored(served)).toMatchObject([{ sync_count: 4, last_synced_at }, SYNCED_ONCE]);
});

test("what could not be counted is counted later, and a call that failed is not", async () => {
  let fails = false;
  const served = await twoProjects({
    wrap: (connection) =>
      watched(connection, (sql) => {
        if (fails && sql.includes("sync_count")) throw new Error("the disk is full");
      }),
  });
  const stranger = projectId("proj_unknown");
  const unknown = () =>
    served.services.sync.exchange(ME, stranger, { documents: {}, createMissing: false });
  expect(await refusal(unknown)).toBe("not_found");
  await poll(served);
  fails = true;
  expect((await served.services.projects.get(ME, A)).project.last_synced_at).toBe(START);
  await poll(served);
  fails = false;
  await served.services.projects.get(ME, A);
  expect(await stored(served)).toMatchObject([{ sync_count: 3 }, SYNCED_ONCE]);
});
