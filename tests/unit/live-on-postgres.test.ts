import { expect, test } from "bun:test";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { createHostApp } from "../../server/host-app.ts";
import { listen } from "../../server/listen/listen.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { connectLive } from "../support/live-client.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

async function startServer(path: string) {
  const options = { path, world: realWorld, log: silentLog, loopbackOnly: true };
  const host = await createHostApp({ ...options, limits: "off" });
  const listener = await listen(host.app, { host: "127.0.0.1", port: 0 });
  return {
    url: listener.url,
    host,
    async [Symbol.asyncDispose]() {
      await listener.close(0);
      await host.close();
    },
  };
}

/** The connections on which servers hear of each other, and by which they tell. */
const LISTENING = `FROM pg_stat_activity WHERE datname = current_database()
  AND query ~ '^(LISTEN|SELECT pg_notify)'`;

/** Two servers on one database, each with a live socket, and a way to write at the first. */
async function startTwo() {
  const address = await (await postgresCluster()).createDatabase();
  const [one, other] = [await startServer(address), await startServer(address)];
  const admin = new HostAdmin(one.host.database, realWorld);
  await admin.createAccount("acme", "pro");
  const terms = { account: "acme", user: "ann", name: "laptop", scope: "write" } as const;
  const { token } = await admin.createToken({ ...terms, projects: null, expiresAt: null });
  const write = async (content: string) => {
    const { status } = await fetch(`${one.url}/v1/memories`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ content, layer: "global" }),
    });
    expect(status).toBe(200);
  };
  const sockets = [await connectLive(one.url, token), await connectLive(other.url, token)];
  for (const each of sockets) {
    each.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
    expect(await each.next()).toMatchObject({ type: "subscribed" });
  }
  return {
    address,
    write,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const each of sockets) each[Symbol.dispose]();
      for (const each of [one, other]) await each[Symbol.asyncDispose]();
    },
  };
}

test("a promotion ends the live sockets of all servers, so that their clients begin again", async () => {
  await using servers = await startTwo();
  const { address, write, sockets } = servers;
  await write("Use pnpm.");
  for (const each of sockets) expect(await each.next()).toMatchObject({ seq: 1 });
  await runOnPostgres(address, "UPDATE incarnation SET mark = 'before a promotion'");
  await write("Use bun.");
  for (const { closed } of sockets) {
    expect(await closed).toEqual({ code: 1001, reason: "the database is another one" });
  }
});

test("servers whose LISTEN alone is cut tell what they have not heard of, and listen again", async () => {
  await using servers = await startTwo();
  const { address, write, sockets } = servers;
  const [before] = await runOnPostgres(address, `SELECT array_agg(pid) AS pids ${LISTENING}`);
  expect(before?.pids).toHaveLength(2);
  await runOnPostgres(address, `SELECT pg_terminate_backend(pid) ${LISTENING}`);
  await write("Use pnpm.");
  for (const each of sockets) expect(await each.next()).toMatchObject({ seq: 1 });
  await waitFor("both to listen again", async () => {
    const [now] = await runOnPostgres(address, `SELECT count(*)::int AS listening ${LISTENING}`);
    return now?.listening === 2;
  });
  await write("Use bun.");
  for (const each of sockets) expect(await each.next()).toMatchObject({ seq: 2 });
});
