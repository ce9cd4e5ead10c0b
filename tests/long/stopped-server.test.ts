import { expect, test } from "bun:test";
import { connectLive } from "../support/live-client.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { keysOf } from "../support/postgres-host.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { openWay } from "../support/postgres-way.ts";
import { ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const TIMEOUT_MS = 120_000;

/** Who uses one server. */
function client(url: string, token: string) {
  const headers = { Authorization: `Bearer ${token}` };
  return {
    write: (key: string) =>
      fetch(`${url}/v1/memories`, {
        method: "POST",
        headers,
        body: JSON.stringify({ key, content: key, layer: "global" }),
      }),
    keys: async () => await keysOf(await fetch(`${url}/v1/memories`, { headers })),
    async listen() {
      const socket = await connectLive(url, token);
      socket.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
      expect(await socket.next()).toMatchObject({ type: "subscribed" });
      return socket;
    },
  };
}

test(
  "a server that is stopped while it holds an account loses it, and tells the truth as it wakes",
  async () => {
    const address = await (await postgresCluster()).createDatabase();
    const way = await openWay(address);
    await using here = await ServerFolder.create("bun", way.address);
    await using there = await ServerFolder.create("bun", address);
    const token = await there.token();
    const [stopped, other] = [await here.server(), await there.server()];
    const [one, two] = [client(stopped.url, token), client(other.url, token)];
    expect((await one.write("first")).status).toBe(200);
    const [atOne, atTwo] = [await one.listen(), await two.listen()];

    // It stands in its transaction: it has not been told that its rows are written.
    way.watch.for("INSERT INTO updates", "before", () => stopped.process.freeze());
    const write = one.write("stopped");
    await waitFor("a transaction that stands", async () => {
      const [row] = await runOnPostgres(
        address,
        `SELECT count(*)::int AS held FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
      return row?.held === 1;
    });
    // It waits for the account until the database has taken it from who does not go on.
    expect((await two.write("second")).status).toBe(200);
    expect(await two.keys()).toEqual(["first", "second"]);
    stopped.process.thaw();
    // It had not sent its COMMIT, so nothing of this is there, and it may write all of it again.
    const isSaved = (await write).status === 200;
    expect((await one.write("last")).status).toBe(200);
    const saved = ["first", "second", ...(isSaved ? ["stopped"] : []), "last"];
    for (const each of [one, two]) expect(await each.keys()).toEqual(saved);
    for (const each of [atOne, atTwo]) {
      for (const key of saved.slice(1)) {
        expect(await each.next()).toMatchObject({ seq: saved.indexOf(key) + 1 });
      }
    }
    way.close();
  },
  TIMEOUT_MS,
);
