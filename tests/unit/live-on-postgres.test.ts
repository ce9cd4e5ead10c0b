import { expect, test } from "bun:test";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { createHostApp } from "../../server/host-app.ts";
import { listen } from "../../server/listen/listen.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { connectLive } from "../support/live-client.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";

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

test("a promotion ends the live sockets of all servers, so that their clients begin again", async () => {
  const address = await (await postgresCluster()).createDatabase();
  await using one = await startServer(address);
  await using other = await startServer(address);
  const admin = new HostAdmin(one.host.database, realWorld);
  await admin.createAccount("acme", "pro");
  const terms = { account: "acme", user: "ann", name: "laptop", scope: "write" } as const;
  const { token } = await admin.createToken({ ...terms, projects: null, expiresAt: null });
  const write = async () => {
    const { status } = await fetch(`${one.url}/v1/memories`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ content: "Use pnpm.", layer: "global" }),
    });
    expect(status).toBe(200);
  };
  using here = await connectLive(one.url, token);
  using there = await connectLive(other.url, token);
  for (const each of [here, there]) {
    each.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
    expect(await each.next()).toMatchObject({ type: "subscribed" });
  }
  await write();
  for (const each of [here, there]) expect(await each.next()).toMatchObject({ seq: 1 });
  await runOnPostgres(address, "UPDATE incarnation SET mark = 'before a promotion'");
  await write();
  for (const { closed } of [here, there]) {
    expect(await closed).toEqual({ code: 1001, reason: "the database is another one" });
  }
});
