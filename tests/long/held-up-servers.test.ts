import { expect, test } from "bun:test";
import pg from "pg";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { openHost } from "../support/postgres-host.ts";
import { openWay } from "../support/postgres-way.ts";
import { waitFor } from "../support/wait-for.ts";

// What holds servers up until the bounds of their connections end it: 10 seconds for a connection,
// 15 for a lock, 40 without an answer. Whoever holds them up for an hour does no more than that.

const TIMEOUT_MS = 240_000;

/** Somebody else's transaction, which stands after these statements until it is over. */
async function foreignTransaction(address: string, ...statements: readonly string[]) {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  for (const statement of ["BEGIN ISOLATION LEVEL REPEATABLE READ", ...statements]) {
    await client.query(statement);
  }
  return { [Symbol.asyncDispose]: () => client.end() };
}

function newDatabase(): Promise<string> {
  return postgresCluster().then((cluster) => cluster.createDatabase());
}

/** Asks for patience, and says for how long. */
function expectRefused(answer: Response): void {
  expect([answer.status, Number(answer.headers.get("retry-after"))]).toEqual([
    429,
    expect.any(Number),
  ]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
}

test.concurrent(
  "calls that find no connection, for others hold all of them, are refused and leave nothing",
  async () => {
    const address = await newDatabase();
    await using host = await openHost(address);
    expect((await host.write("first")).status).toBe(200);
    const refused = await (async () => {
      await using _ = await foreignTransaction(address, "LOCK TABLE memories");
      const reads = Array.from({ length: 12 }, () => host.ask("/v1/memories?layer=global"));
      // Of writes each waits for a lock by itself, so these are few.
      return await Promise.all([...reads, host.write("refused"), host.write("refused too")]);
    })();
    for (const answer of refused) expectRefused(answer);
    expect((await host.write("last")).status).toBe(200);
    expect(await host.keys()).toEqual(["first", "last"]);
    expect((await host.ask("/readyz")).status).toBe(200);
  },
  TIMEOUT_MS,
);

test.concurrent(
  "a foreign transaction that does not end holds up the account whose row it has, and no other",
  async () => {
    const address = await newDatabase();
    await using host = await openHost(address);
    await using second = await openHost(address, host.token);
    const other = await host.newToken("umbrella");
    for (const by of [host.token, other]) {
      expect((await host.write("first", by)).status).toBe(200);
    }
    const lock = "SELECT FROM owners ORDER BY owner LIMIT 1 FOR UPDATE";
    await (async () => {
      await using _ = await foreignTransaction(address, lock);
      const isHeld = async (by: string) => {
        const written = [host, second].map((each) => each.write("tried", by));
        const answers = await Promise.all(written);
        const refused = answers.filter(({ status }) => status !== 200);
        for (const answer of refused) expectRefused(answer);
        return refused.length === 2;
      };
      const both = [host.token, other];
      expect((await Promise.all(both.map(isHeld))).sort()).toEqual([false, true]);
      for (const by of both) expect(await second.keys(by)).toContain("first");
    })();
    const kept = await Promise.all([host.keys(), host.keys(other)]);
    expect(kept.sort()).toEqual([["first"], ["first", "tried"]]);
    for (const by of [host.token, other]) {
      expect((await second.write("last", by)).status).toBe(200);
      expect(await host.keys(by)).toEqual(await second.keys(by));
    }
  },
  TIMEOUT_MS,
);

test.concurrent.each(["before", "after"] as const)(
  "a database that is silent from just %s it gets a COMMIT on leaves nobody guessing",
  async (when) => {
    const address = await newDatabase();
    const way = await openWay(address);
    await using here = await openHost(way.address);
    await using there = await openHost(address, here.token);
    // Also where this fails: the end of a host waits for a database that says nothing.
    await using _ = {
      async [Symbol.asyncDispose]() {
        way.mend();
        way.close();
      },
    };
    expect((await here.write("first")).status).toBe(200);
    way.watch.for("INSERT INTO updates", "after", () => {
      way.watch.for("COMMIT", when, () => way.hush());
    });
    const write = here.write("silent");
    await waitFor("silence", () => way.isHushed);
    // It gets the account as soon as the database has given up who is silent.
    expect((await there.write("second")).status).toBe(200);
    const answer = await write;
    expect([answer.status, await answer.text()]).toEqual([
      500,
      expect.stringContaining("whether this was saved is not known"),
    ]);
    way.mend();
    await waitFor("a write", async () => (await here.write("third")).status === 200);
    const saved = when === "after" ? ["first", "silent", "second"] : ["first", "second"];
    for (const each of [here, there]) expect(await each.keys()).toEqual([...saved, "third"]);
  },
  TIMEOUT_MS,
);
