import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../support/needs.ts";
import { openHost } from "../support/postgres-host.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { MOUNTING, openSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { startPostgres } from "../support/start-postgres.ts";
import { waitFor } from "../support/wait-for.ts";

const TIMEOUT_MS = 240_000;

/** A new cluster takes some 40. */
const MEGABYTES = 120;

/** What PostgreSQL can't compress, and has no room for between other rows. */
const BYTES = 24_000;

/** A PostgreSQL whose data, and whose log with them, are on a small disk; and two servers on it. */
async function openScene() {
  const disks: SmallDisk[] = [];
  const postgres = await startPostgres([], (data) => {
    const disk = openSmallDisk(data, MEGABYTES);
    if (disk) disks.push(disk);
  });
  const [disk] = disks;
  if (!disk) throw new Error("the disk can't be made");
  const { address } = postgres;
  const one = await openHost(address);
  const other = await openHost(address, one.token);
  const servers = [one, other];
  const acknowledged: string[] = [];
  return {
    postgres,
    address,
    disk,
    servers,
    acknowledged,
    async write(key: string, at = 0) {
      const content = randomBytes(BYTES).toString("base64");
      const answer = await (servers[at] ?? one).ask("/v1/memories", {
        key,
        content,
        layer: "global",
      });
      if (answer.status === 200) acknowledged.push(key);
      return { status: answer.status, text: await answer.text() };
    },
    ready: () => Promise.all(servers.map(async (each) => (await each.ask("/readyz")).status)),
    async [Symbol.asyncDispose]() {
      for (const each of servers) await each[Symbol.asyncDispose]();
      process.kill(postgres.pid, "SIGQUIT");
      disk[Symbol.dispose]();
      rmSync(postgres.folder, { recursive: true, force: true });
    },
  };
}

testWith(
  MOUNTING,
  "a database whose disk is really full refuses writes, answers reads, and loses nothing",
  async () => {
    await using scene = await openScene();
    const { disk, servers, acknowledged, write, ready } = scene;
    expect((await write("before")).status).toBe(200);
    disk.fill();
    const refused: string[] = [];
    for (let at = 0; refused.length < 3; at += 1) {
      const { status, text } = await write(`full ${at}`, at % servers.length);
      if (status === 200) continue;
      refused.push(`full ${at}`);
      expect([status, text]).toEqual([500, expect.stringContaining("the disk is full: make room")]);
    }
    for (const each of servers) expect(await each.keys()).toEqual(acknowledged);
    await waitFor("a lack that shows", async () => (await ready()).includes(503));
    disk.free();
    await waitFor("room that shows", async () => (await ready()).join() === "200,200");
    for (const key of refused) expect((await write(key)).status).toBe(200);
    for (const each of servers) expect(await each.keys()).toEqual(acknowledged);
  },
  TIMEOUT_MS,
);

testWith(
  MOUNTING,
  "a database that ends for want of room for its log has all that was acknowledged once it is back",
  async () => {
    await using scene = await openScene();
    const { postgres, address, disk, servers, acknowledged, write, ready } = scene;
    for (const key of ["first", "second"]) expect((await write(key)).status).toBe(200);
    disk.fill();
    const unknown: string[] = [];
    // The log goes on in further files, until there is no room for one.
    await waitFor("the end of PostgreSQL", async () => {
      await runOnPostgres(address, "SELECT pg_switch_wal()").catch(() => {});
      const key = `full ${unknown.length}`;
      const { status } = await write(key, unknown.length % servers.length);
      if (status !== 200) unknown.push(key);
      return readFileSync(join(postgres.folder, "log"), "utf8").includes("PANIC");
    });
    await waitFor("an outage that shows", async () => (await ready()).join() === "503,503");
    disk.free();
    // It starts by itself as long as a start finds room for the log of the start.
    await waitFor("PostgreSQL to be back", async () => {
      await runOnPostgres(address, "SELECT 1").catch(() => postgres.startAgain());
      return true;
    });
    await waitFor("servers that are ready", async () => (await ready()).join() === "200,200");
    for (const at of [0, 1]) {
      await waitFor("a write", async () => (await write(`after ${at}`, at)).status === 200);
    }
    const found = await Promise.all(servers.map((each) => each.keys()));
    expect(found[0]).toEqual(found[1] ?? []);
    // Of each of the others nobody knows, until it is looked for.
    expect(found[0]?.filter((key) => !unknown.includes(key))).toEqual(acknowledged);
  },
  TIMEOUT_MS,
);
