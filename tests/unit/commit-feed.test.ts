import { expect, test } from "bun:test";
import type { HostTables } from "../../server/stores/account-tables.ts";
import { openPostgresDatabase } from "../../server/stores/open-postgres-store.ts";
import { asAccountId, type ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { CommitFeed } from "../../shared/replica/postgres/commit-feed.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { runOnPostgres, serversOfTests } from "../support/postgres-servers.ts";

const newDatabase = serversOfTests();
const ann = asAccountId("ann");

/** Among the rows that were told: from here on somebody has to begin again. */
const ANEW = -1;

/** A feed whose looks can be made to fail, and what it has told. */
async function start() {
  const servers = await newDatabase();
  const { store } = await servers.open();
  const database = await openPostgresDatabase(servers.address, realWorld);
  const state = { fails: false, uses: 0 };
  const told: number[] = [];
  const rows: CommittedRow[] = [];
  const feed = new CommitFeed<HostTables>({
    reading: {
      use: (work) => {
        state.uses += 1;
        return state.fails ? Promise.reject(new Error("too busy")) : database.reading.use(work);
      },
    },
    world: createDrivenWorld(),
    announce: (all) => {
      rows.push(...all);
      told.push(...all.map(({ seq }) => seq));
    },
    epoch: store.writer.epoch,
    onAnew: () => told.push(ANEW),
  });
  return {
    feed,
    told,
    rows,
    state,
    ask: (...statements: readonly string[]) => runOnPostgres(servers.address, ...statements),
    commit: (key: string) =>
      store.write(
        async (context) => {
          const open = await context.open(projectDocument(ann, "proj_notes" as ProjectId));
          open.document.setEntry("memories", key, { value: key, now: context.now });
        },
        { owner: ann },
      ),
    async [Symbol.asyncDispose]() {
      await feed.stop();
      await database.close();
    },
  };
}

test("whoever begins to listen while nothing can be read is told so, and begins anew", async () => {
  await using started = await start();
  const { feed, told, state, commit } = started;
  await commit("a");
  state.fails = true;
  feed.follow(ann);
  await expect(feed.following(ann)).rejects.toThrow("too busy");
  state.fails = false;
  await commit("b");
  await feed.following(ann);
  expect(told).toEqual([]);
  await commit("c");
  feed.hinted(ann);
  await feed.following(ann);
  expect(told).toEqual([3]);
});

test("a later look that fails keeps nobody waiting, and the next one tells it all", async () => {
  await using started = await start();
  const { feed, told, state, commit } = started;
  feed.follow(ann);
  await feed.following(ann);
  state.fails = true;
  await commit("a");
  feed.hinted(ann);
  await feed.following(ann);
  expect(told).toEqual([]);
  state.fails = false;
  await commit("b");
  feed.hinted(ann);
  await feed.following(ann);
  expect(told).toEqual([1, 2]);
});

test("two who begin to listen at the same time miss nothing that comes between", async () => {
  await using started = await start();
  const { feed, told, state, commit } = started;
  state.fails = true;
  feed.follow(ann);
  await feed.following(ann)?.catch(() => {});
  state.fails = false;
  await commit("a");
  await Promise.all([feed.following(ann), feed.following(ann)]);
  await commit("b");
  feed.hinted(ann);
  await feed.following(ann);
  expect(told).toEqual([2]);
});

/** What a promotion leaves that has lost the last commit. */
const LOSE_THE_LAST = [
  "DELETE FROM memories WHERE key = 'b'",
  "DELETE FROM updates WHERE seq = 2",
  "UPDATE documents SET seq = 1",
  "UPDATE owners SET version = version - 1",
  "UPDATE incarnation SET mark = 'before'",
];

test("whoever listens begins again where the last commits are gone, written over or not", async () => {
  for (const isWritten of [false, true]) {
    await using started = await start();
    const { feed, told, ask, commit } = started;
    const stop = feed.follow(ann);
    await feed.following(ann);
    await commit("a");
    await commit("b");
    feed.hinted(ann);
    await feed.following(ann);
    expect(told.splice(0)).toEqual([1, 2]);
    await ask(...LOSE_THE_LAST);
    // It has the number of the one that was lost, and the account its version.
    if (isWritten) await commit("c");
    await feed.lookAtAll();
    await feed.following(ann);
    expect(told.splice(0)).toEqual([ANEW]);
    feed.follow(ann);
    await feed.following(ann);
    // Whoever left late ends nothing of those who came since.
    stop();
    await commit("d");
    feed.hinted(ann);
    await feed.following(ann);
    // The first that is written has another epoch.
    expect(told).toEqual([isWritten ? 3 : ANEW]);
  }
});

/** The version of the account, and a row behind those that were told, as their server has them. */
async function committedBy({ ask, rows }: Awaited<ReturnType<typeof start>>) {
  const [owner] = await ask("SELECT version::int FROM owners WHERE owner = 'ann'");
  const last = rows.at(-1);
  if (!last) throw new Error("no row was told");
  const row = { ...last, seq: last.seq + 1 };
  return [[row], new Map([[ann, Number(owner?.version)]])] as const;
}

test("what a server has told of its own commit and the database lost is found by the next look", async () => {
  await using started = await start();
  const { feed, told, ask, commit } = started;
  feed.follow(ann);
  await feed.following(ann);
  await commit("a");
  feed.hinted(ann);
  await feed.following(ann);
  await commit("b");
  feed.committed(...(await committedBy(started)));
  expect(told.splice(0)).toEqual([1, 2]);
  // No look comes in between.
  await ask(...LOSE_THE_LAST);
  await feed.lookAtAll();
  await feed.following(ann);
  expect(told).toEqual([ANEW]);
});

test("a look at all accounts is one query, and reads only what has moved", async () => {
  await using started = await start();
  const { feed, told, state, commit } = started;
  const all = [ann, ...Array.from({ length: 50 }, (_, at) => asAccountId(`other-${at}`))];
  for (const owner of all) feed.follow(owner);
  await Promise.all(all.map((owner) => feed.following(owner)));
  const usesOf = async () => {
    const before = state.uses;
    await feed.lookAtAll();
    await feed.following(ann);
    return state.uses - before;
  };
  expect(await usesOf()).toBe(1);
  await commit("a");
  expect(await usesOf()).toBe(2);
  expect(told).toEqual([1]);
  expect(await usesOf()).toBe(1);
  // Whoever could not be looked at is found by the next look.
  await commit("b");
  state.fails = true;
  await feed.lookAtAll();
  state.fails = false;
  expect(await usesOf()).toBe(2);
  expect(told).toEqual([1, 2]);
});
