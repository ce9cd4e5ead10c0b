import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../shared/json.ts";
import type { MemoryList } from "../../shared/wire/memory.ts";
import { connectLive } from "../support/live-client.ts";
import { type Need, testWith } from "../support/needs.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const ROOT = join(import.meta.dir, "..", "..");
const TIMEOUT_MS = 300_000;

/**
 * The program that this one follows: no released version knows PostgreSQL yet, so it is a commit
 * before the last step of the schema. Once there is one, its tag.
 */
const FORMER = "7df9799ad828201623adf084fe8a488321adc33c";

const archive = spawnSync(
  "git",
  ["archive", FORMER, "cli", "client", "conformance", "daemon", "server", "shared", "package.json"],
  {
    cwd: ROOT,
    maxBuffer: 256 * 1024 * 1024,
  },
);

const HISTORY: Need = {
  isMet: archive.status === 0,
  missing: "this checkout has no history with the former program",
};

/** How the former program is started, whose sources are in `folder` then. */
function formerProgram(folder: string): readonly string[] {
  mkdirSync(folder);
  writeFileSync(`${folder}.tar`, archive.stdout);
  const unpacked = spawnSync("tar", ["-xf", `${folder}.tar`, "-C", folder]);
  if (unpacked.status !== 0) throw new Error(`tar failed: ${unpacked.stderr}`);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return [process.execPath, join(folder, "cli/main.ts")];
}

/** What one of the servers is asked. */
function callerOf(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return {
    write: async (key: string, content: string, once?: string) => {
      const body = JSON.stringify({ key, content, layer: "global" });
      const more = once === undefined ? {} : { "idempotency-key": once };
      const answer = await fetch(`${url}/v1/memories`, {
        method: "POST",
        headers: { ...headers, ...more },
        body,
      });
      expect(answer.status).toBe(200);
      return await answer.json();
    },
    read: async () => {
      const answer = await fetch(`${url}/v1/memories?layer=global`, { headers });
      expect(answer.status).toBe(200);
      const { memories } = (await answer.json()) as MemoryList;
      return Object.fromEntries(memories.map(({ key, content }) => [key, content]));
    },
    find: async (q: string) => {
      const answer = await fetch(`${url}/v1/memories?q=${encodeURIComponent(q)}`, { headers });
      const { memories } = (await answer.json()) as MemoryList;
      return memories.map(({ key }) => key).sort();
    },
    tell: async (metadata: object) => {
      const body = JSON.stringify({ metadata });
      const path = "/v1/projects/proj_a/sync";
      const answer = await fetch(`${url}${path}`, { method: "POST", headers, body });
      expect(answer.status).toBe(200);
    },
    told: async () => {
      const answer = await fetch(`${url}/api/projects/proj_a`, { headers });
      const project: unknown = await answer.json();
      return isObject(project) ? project.metadata : undefined;
    },
    status: async () => (await fetch(`${url}/v1/memories`, { headers })).status,
  };
}

testWith(
  HISTORY,
  "servers of two releases on one PostgreSQL serve the same, and one may be put back",
  async () => {
    const address = await (await postgresCluster()).createDatabase();
    await using now = await ServerFolder.create("bun", address);
    await using former = new ServerFolder(formerProgram(now.path("former")), address);
    const before = await former.server();
    const token = await former.token();
    const old = callerOf(before.url, token);
    await old.write("before", "the update");
    const early = "e".repeat(5000);
    await old.tell({ before: 0, [early]: 0 });
    // Its steps are taken while the former one serves.
    const after = await now.server();
    const next = callerOf(after.url, token);
    using here = await connectLive(before.url, token);
    using there = await connectLive(after.url, token);
    for (const each of [here, there]) {
      each.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
      expect(await each.next()).toMatchObject({ type: "subscribed" });
    }
    for (let turn = 0; turn < 6; turn++) {
      await (turn % 2 ? old : next).write("turn", `turn ${turn}`);
      for (const each of [here, there]) expect(await each.next()).toMatchObject({ seq: turn + 2 });
      const wanted = { before: "the update", turn: `turn ${turn}` };
      expect([await old.read(), await next.read()]).toEqual([wanted, wanted]);
    }
    // Words are other ones since the former release: the present one finds by its own rules.
    await old.write("deploy", "deploys with Node22, 日本語の");
    await old.write("once more", "Node22");
    for (const q of ["Node22", "node 22"]) {
      expect(await next.find(q)).toEqual(["deploy", "once more"]);
    }
    expect(await next.find("本語")).toEqual(["deploy"]);
    expect(await old.write("once", "x", "a key")).toEqual(await next.write("once", "x", "a key"));
    // Keys that the former one's index could not hold, or could only where they are compressed.
    const isTold = async (metadata: object) => {
      expect([await old.told(), await next.told()]).toEqual([metadata, metadata]);
    };
    const random = randomBytes(3000).toString("base64");
    const plain = "k".repeat(5000);
    await next.tell({ shared: "new", [random]: 1, [plain]: 1 });
    await isTold({ before: 0, shared: "new", [early]: 0, [random]: 1, [plain]: 1 });
    await old.tell({ shared: "old", more: true, [random]: 2, [early]: 2 });
    await isTold({ before: 0, shared: "old", more: true, [early]: 2, [random]: 2, [plain]: 1 });
    await next.tell({ [early]: 3 });
    await isTold({ before: 0, shared: "old", more: true, [early]: 3, [random]: 2, [plain]: 1 });
    // What one of them deletes is gone at both.
    await old.tell({ [random]: null, [early]: null });
    await next.tell({ [plain]: null });
    await isTold({ before: 0, shared: "old", more: true });
    // A token that the commands of either end is refused by both.
    const ends = async (by: ServerFolder, guestName: string) => {
      const guest = await by.token("acme", "--name", guestName);
      const callers = [before.url, after.url].map((url) => callerOf(url, guest));
      for (const each of callers) expect(await each.status()).toBe(200);
      const list = await by.memsync("server", "token", "list", "--account", "acme", "--json");
      const tokens: { id: string; name: string }[] = JSON.parse(list);
      const id = tokens.find(({ name }) => name === guestName)?.id ?? "";
      await by.memsync("server", "token", "revoke", id);
      await waitFor("both refusals", async () => {
        const told = await Promise.all(callers.map((each) => each.status()));
        return told.every((status) => status === 401);
      });
    };
    await ends(now, "guest of the new one");
    await ends(former, "guest of the former one");
    // The update is taken back.
    await after.process.end("SIGTERM");
    await before.process.end("SIGTERM");
    const again = await former.server();
    expect(await callerOf(again.url, token).read()).toMatchObject({ turn: "turn 5", once: "x" });
    rmSync(now.path("former"), { recursive: true });
  },
  TIMEOUT_MS,
);

test("the former program is named by a whole commit", () => {
  expect(FORMER).toMatch(/^[0-9a-f]{40}$/);
});
