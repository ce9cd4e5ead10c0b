import { Database } from "bun:sqlite";
import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../../support/machine.ts";
import { ServerFolder } from "../../support/server-process.ts";
import { openSmallDisk, type SmallDisk } from "../../support/small-disk.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Case, print } from "../cases.ts";

const SENTENCE = /^memsync: [^\n]*(disk|room)[^\n]*\n$/;
const VALUE_BYTES = 20_000;
const TRIES_MAX = 400;

/** The answer of a failed write, and everything that was confirmed before it. */
interface Filled {
  readonly confirmed: Map<string, string>;
  readonly failure: Response;
}

/** Writes until a write fails. */
async function writeUntilFull(
  send: (key: string, content: string) => Promise<Response>,
): Promise<Filled> {
  const confirmed = new Map<string, string>();
  for (let at = 0; at < TRIES_MAX; at++) {
    const value = `${at} `.padEnd(VALUE_BYTES, "x");
    const response = await send(`full ${at}`, value);
    if (!response.ok) return { confirmed, failure: response };
    confirmed.set(`full ${at}`, value);
  }
  throw new Error("the disk was never full");
}

async function expectInternal(response: Response): Promise<void> {
  equal(response.status, 500);
  const { error } = (await response.json()) as {
    error: { code: string; message: string; request_id: string };
  };
  equal(error.code, "internal");
  match(error.message, /disk/);
  match(error.request_id, /^req_/);
  equal(response.headers.get("x-request-id"), error.request_id);
}

function expectSound(path: string): void {
  const database = new Database(path, { readonly: true });
  deepEqual(database.query("pragma integrity_check").all(), [{ integrity_check: "ok" }]);
  database.close();
}

async function expectValues(machine: Machine, wanted: ReadonlyMap<string, string>): Promise<void> {
  const held = new Map((await machine.list()).map(({ key, value }) => [key, value]));
  deepEqual(
    [...wanted].filter(([key, value]) => held.get(key) !== value).map(([key]) => key),
    [],
  );
}

/** Without root and without prlimit there is no way to fill a disk, and that is said. */
async function onSmallDisk(
  folder: string,
  work: (disk: SmallDisk) => Promise<void>,
): Promise<void> {
  using disk = openSmallDisk(folder);
  if (disk) await work(disk);
  else print("skipped: neither a file system can be mounted here nor a process be limited");
}

const fullHome: Case = {
  name: "a full disk under a daemon loses nothing and harms nothing",
  async run(lab) {
    const emulator = await lab.emulator(lab.git.path("service"));
    const [a, b] = await lab.twoMachines(emulator.account("full"), { ".gitignore": "CLAUDE.md" });
    await onSmallDisk(a.home, async (disk) => {
      await Promise.all([a.up(), b.up()]);
      const { id } = await a.projectOf();
      await a.memsync("set", "before", "it was full");
      await a.untilSynced();
      disk.fill(a.daemon);
      const send = (key: string, content: string) =>
        a.gateway("POST", "/v1/memories", { key, content, project_id: id });
      const { confirmed, failure } = await writeUntilFull(send);
      await expectInternal(failure);
      const refused = await a.run(["set", "refused", "x".repeat(VALUE_BYTES)]);
      equal(refused.status, 1);
      match(refused.stderr, SENTENCE);
      await b.memsync("set", "from b", "meanwhile ".padEnd(VALUE_BYTES, "x"));
      writeFileSync(join(a.folder, "CLAUDE.md"), `# Saved\n${"while full\n".repeat(3000)}`);
      equal((await a.run(["get", "before"])).stdout, "it was full");
      ok((await a.status()).projects.length === 1, "the daemon answers");
      await a.syncOnce();
      ok(a.daemon?.running, "the daemon stays up");
      disk.free(a.daemon);
      await waitFor("room", async () => (await a.run(["set", "after", "room"])).status === 0);
      confirmed.set("before", "it was full").set("after", "room");
      await waitFor("b's value on a", async () => (await a.run(["get", "from b"])).status === 0);
      await waitFor("a's file on b", async () => (await b.doc(id)).startsWith("# Saved"));
      await expectValues(a, confirmed);
      await a.untilSynced();
      await waitFor("all on b", () => expectValues(b, confirmed).then(() => true));
      await a.down("SIGKILL");
      expectSound(join(a.home, "memsync.db"));
      await a.up();
      await expectValues(a, confirmed);
      deepEqual((await a.status()).damaged, []);
      await a.down();
    });
  },
};

const fullWithoutDaemon: Case = {
  name: "a full disk without a daemon is told in a sentence",
  async run(lab) {
    const emulator = await lab.emulator();
    const folder = await lab.git.repository("a", { "README.md": "" });
    const machine = lab.machine("a", folder, emulator.account("full-offline"));
    await onSmallDisk(machine.home, async (disk) => {
      if (disk.kind !== "tmpfs") {
        print("skipped: only a disk of its own is full for a command, too");
        return;
      }
      await machine.up();
      await machine.memsync("set", "before", "value");
      await machine.untilSynced();
      await machine.down();
      disk.fill();
      const refused = await machine.run(["set", "refused", "x".repeat(VALUE_BYTES)]);
      equal(refused.status, 1);
      match(refused.stderr, SENTENCE);
      const up = await machine.run(["up"]);
      equal(up.status, 1);
      match(up.stderr, SENTENCE);
      disk.free();
      await machine.memsync("set", "after", "room");
      await machine.up();
      await expectValues(
        machine,
        new Map([
          ["before", "value"],
          ["after", "room"],
        ]),
      );
      deepEqual((await machine.status()).damaged, []);
      await machine.down();
    });
  },
};

const fullServer: Case = {
  name: "a full disk under a server is a 500 that says so, and the server goes on",
  async run() {
    await using folder = await ServerFolder.create();
    await onSmallDisk(folder.path("small"), async (disk) => {
      const path = folder.path("small/server.db");
      const flags = ["--database-url", `sqlite:${path}`];
      await folder.memsync("server", "account", "create", "acme", "--plan", "team", ...flags);
      const account = ["--account", "acme", ...flags];
      const token = await folder.memsync("server", "token", "create", ...account);
      let server = await folder.server(...flags);
      const headers = { Authorization: `Bearer ${token}` };
      const send = (key: string, content: string) => {
        const body = JSON.stringify({ key, content, layer: "global" });
        return fetch(`${server.url}/v1/memories`, { method: "POST", headers, body });
      };
      disk.fill(server.process);
      const { confirmed, failure } = await writeUntilFull(send);
      await expectInternal(failure);
      const read = async () => {
        const response = await fetch(`${server.url}/v1/memories`, { headers });
        equal(response.status, 200);
        const { memories } = (await response.json()) as {
          memories: { key: string; content: string }[];
        };
        return new Map(memories.map(({ key, content }) => [key, content]));
      };
      deepEqual([...(await read()).keys()].sort(), [...confirmed.keys()].sort());
      equal((await fetch(`${server.url}/healthz`)).status, 200);
      disk.free(server.process);
      await waitFor("room", async () => (await send("after", "room")).ok);
      confirmed.set("after", "room");
      for (const [key, value] of await read()) equal(value, confirmed.get(key));
      await server.process.end("SIGKILL");
      expectSound(path);
      server = await folder.server(...flags);
      deepEqual([...(await read())].sort(), [...confirmed].sort());
      await server.process.end("SIGTERM");
      notEqual(confirmed.size, 0);
    });
  },
};

export const FULL: readonly Case[] = [fullHome, fullWithoutDaemon, fullServer];
