import { expect, test } from "bun:test";
import { startBusyClient } from "../support/busy-client.ts";
import { connectLive } from "../support/live-client.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { openWay } from "../support/postgres-way.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { RUNTIMES, ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const BODY = JSON.stringify({ content: "written while the server ended", layer: "global" });

/** A request whose body has come but for its last bytes. */
async function halfSent(port: number, token: string) {
  const connection = await connectRaw(port);
  connection.write(
    `POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 20)}`,
  );
  return { ...connection, finish: () => connection.write(BODY.slice(20)) };
}

const readiness = async (url: string) => (await fetch(`${url}/readyz`)).status;

for (const runtime of RUNTIMES) {
  test(`on ${runtime}, a request under way when the signal comes is answered in full`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const token = await folder.token();
    const server = await folder.server("--shutdown-timeout", "60");
    using live = await connectLive(server.url, token);
    const request = await halfSent(server.port, token);
    const ended = server.process.end("SIGTERM");
    expect((await live.closed).code).toBe(1001);
    await waitFor("the port to be closed", () =>
      fetch(server.url).then(
        () => false,
        () => true,
      ),
    );
    expect(server.process.running).toBe(true);
    request.finish();
    const answer = await request.until(/\}$/);
    expect(answer).toStartWith("HTTP/1.1 200 ");
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ layer: "global" });
    expect((await ended).status).toBe(0);
    const again = await folder.server();
    const headers = { Authorization: `Bearer ${token}` };
    const { memories } = (await (await fetch(`${again.url}/v1/memories`, { headers })).json()) as {
      memories: { content: string }[];
    };
    expect(memories.map(({ content }) => content)).toEqual(["written while the server ended"]);
  });

  test(`on ${runtime}, busy clients are told to leave, and none of them loses a request`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const token = await folder.token();
    const server = await folder.server();
    const starting = Array.from({ length: 32 }, () => startBusyClient(server.port, token));
    const clients = await Promise.all(starting);
    await waitFor("all to be answered", () => clients.every((each) => each.answers() > 20));
    const ended = server.process.end("SIGTERM");
    const outcomes = await Promise.all(clients.map((client) => client.ended));
    expect(outcomes).toEqual(outcomes.map(() => "told"));
    expect((await ended).status).toBe(0);
  });

  test(`on ${runtime}, an emulator's busy clients are told to leave, and none loses a request`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const emulator = folder.spawn(["emulator", "--port", "0", "--limits", "off"]);
    const url = await emulator.untilPrinted(/MEMSYNC_URL=(\S+)/);
    const starting = Array.from({ length: 32 }, () =>
      startBusyClient(Number(new URL(url).port), "mst_dev_pro"),
    );
    const clients = await Promise.all(starting);
    await waitFor("all to be answered", () => clients.every((each) => each.answers() > 20));
    const ended = emulator.end("SIGTERM");
    const outcomes = await Promise.all(clients.map((client) => client.ended));
    expect(outcomes).toEqual(outcomes.map(() => "told"));
    expect((await ended).status).toBe(0);
  });

  test(`on ${runtime}, /readyz is 503 while a server that is to end still serves`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const server = await folder.server("--shutdown-delay", "3600");
    expect(await readiness(server.url)).toBe(200);
    const ended = server.process.end("SIGTERM");
    await waitFor("/readyz to be 503", async () => (await readiness(server.url)) === 503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ status: "draining" });
    // The delay would last an hour: the second signal ends it.
    void server.process.end("SIGTERM");
    expect((await ended).status).not.toBe(0);
  });

  test(`on ${runtime}, a request that never ends is cut off at the deadline`, async () => {
    await using folder = await ServerFolder.create(runtime);
    const token = await folder.token();
    const server = await folder.server("--shutdown-timeout", "1");
    const request = await halfSent(server.port, token);
    expect((await server.process.end("SIGTERM")).status).toBe(0);
    await waitFor("the connection to be closed", () => request.closed());
  });

  test(`on ${runtime}, a server ends although its database is silent`, async () => {
    const way = await openWay(await (await postgresCluster()).createDatabase());
    await using folder = await ServerFolder.create(runtime, way.address);
    const token = await folder.token();
    const server = await folder.server("--shutdown-timeout", "1");
    const write = () =>
      fetch(`${server.url}/v1/memories`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}` },
        body: BODY,
      });
    expect((await write()).status).toBe(200);
    way.hush();
    const cutOff = write().catch(() => undefined);
    await waitFor("an outage that shows", async () => (await readiness(server.url)) === 503);
    const { status, stderr } = await server.process.end("SIGTERM");
    expect([status, stderr]).toEqual([0, expect.stringContaining("without an answer")]);
    expect(await cutOff).toBeUndefined();
    way.close();
  });
}

test("a port that is taken and a database that is served are one sentence each", async () => {
  await using folder = await ServerFolder.create();
  const server = await folder.server();
  const onPort = await folder.run(["server", "--port", `${server.port}`]);
  expect([onPort.status, onPort.stdout]).toEqual([1, ""]);
  expect(onPort.stderr).toMatch(/^memsync: port \d+ on 127\.0\.0\.1 is in use[^\n]+\n$/);
  const onDatabase = await folder.run(["server", "--port", "0"]);
  expect([onDatabase.status, onDatabase.stdout]).toEqual([1, ""]);
  expect(onDatabase.stderr).toMatch(/^memsync: the database \S+ is served by another [^\n]+\n$/);
});
