import { expect, test } from "bun:test";
import type { Once } from "../../server/services/services.ts";
import { projectId } from "../support/project-id.ts";
import { caller, createTestServices, EVERYTHING, refusal } from "../support/test-services.ts";
import { watched } from "../support/watched-connection.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const ME = caller();
const NOTE = { content: "once", layer: "user" } as const;

function once(changes: Partial<Once> = {}): Once {
  return { path: "/v1/memories", key: "k1", bodyHash: "hash", ...changes };
}

type Failure = (execute: () => void) => void;

/**
 * Creates a memory, with a failure at the statement of that number, and then once more without one.
 * Gives how many statements there were, and whether the first attempt was refused.
 */
async function createTwice(failAt: number, fail: Failure) {
  let statements = 0;
  let isFirst = true;
  const { temp, services } = await createTestServices({
    wrap: (connection) =>
      watched(connection, (_sql, execute) => {
        if (isFirst) statements += 1;
        if (isFirst && statements === failAt) fail(execute);
      }),
  });
  const create = () => services.memories.create(ME, NOTE, { once: once() });
  const refused = await create().then(
    () => false,
    () => true,
  );
  isFirst = false;
  const again = await create();
  await temp.reopen();
  const memories = await temp.store.reader.selectFrom("memories").select("memory_id").execute();
  const kept = await temp.store.reader.selectFrom("kept_answers").select("answer").execute();
  expect(memories).toEqual([{ memory_id: again.id }]);
  expect(kept).toEqual([{ answer: JSON.stringify(again) }]);
  await temp.remove();
  return { statements, refused };
}

/** How many first attempts were refused when each of their statements failed in turn. */
async function failAtEach(fail: Failure): Promise<number> {
  const { statements } = await createTwice(0, fail);
  let refused = 0;
  for (let at = 1; at <= statements; at++) {
    if ((await createTwice(at, fail)).refused) refused += 1;
  }
  return refused;
}

test("whichever statement fails, a request sent again is done once", async () => {
  const failures = await failAtEach(() => {
    throw new Error("disk I/O error");
  });
  expect(failures).toBeGreaterThan(10);
});

test("whichever statement fails after its effect, a request sent again is done once", async () => {
  const failures = await failAtEach((execute) => {
    execute();
    throw new Error("disk I/O error");
  });
  expect(failures).toBeGreaterThan(10);
});

test("another user, and a token that is bound, have answers of their own", async () => {
  const { temp, services } = await createTestServices();
  const id = projectId("a");
  const sync = (by: typeof ME) =>
    services.sync.apply(by, id, {
      payload: { metadata: { a: 1 } },
      createMissing: true,
      once: once(),
    });
  const first = await sync(ME);
  temp.world.advance(1000);
  const bound = caller({ boundTo: [id], tokenId: "token_2" });
  const elsewhere = caller({ boundTo: [projectId("b")], tokenId: "token_3" });
  expect(await sync(caller({ tokenId: "token_4" }))).toEqual(first);
  for (const other of [caller({ user: "user_2" }), bound]) {
    const answer = await sync(other);
    expect(answer.changes).toEqual(first.changes);
    expect(answer.synced_at).not.toBe(first.synced_at);
  }
  expect(await refusal(() => sync(elsewhere))).toBe("forbidden");
  expect((await sync(caller({ account: "acct_2" }))).synced_at).not.toBe(first.synced_at);
  await temp.remove();
});

test("what is over 24 hours old is no answer any more, and is swept out, whoever's it is", async () => {
  const { temp, services } = await createTestServices();
  const create = (key: string, by = ME) =>
    services.memories.create(by, NOTE, { once: once({ key }) });
  await create("k1");
  await create("k1", caller({ account: "acct_2" }));
  temp.world.advance(DAY_MS - 1);
  await create("k2");
  temp.world.advance(1);
  const again = await create("k1");
  expect((await create("k1")).id).toBe(again.id);
  await temp.store.sweep();
  const kept = temp.store.reader.selectFrom("kept_answers").select("key").orderBy("key");
  expect(await kept.execute()).toEqual([{ key: "k1" }, { key: "k2" }]);
  expect((await services.memories.list(ME, EVERYTHING)).total).toBe(3);
  await temp.remove();
});
