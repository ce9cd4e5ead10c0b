import { Database } from "bun:sqlite";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "../../support/lab.ts";
import { MEMSYNC } from "../../support/machine.ts";
import { ServerFolder } from "../../support/server-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { anyOf, type Case, print } from "../cases.ts";
import { HARMS, type Harm } from "./harms.ts";

const MEMORIES = 30;
const NOBODY = 65_534;
/** Of a home's database the path is said; a server's is in its settings. */
const NEWER =
  /^memsync: (\S+ can.t be opened: )?the database was written by a newer memsync \(.+\): update/;
const EMPTY = createHash("sha256").digest("hex");

/** The bytes of every file of a database, by name; who only looks may leave an empty log. */
function filesOf(folder: string, prefix: string): Map<string, string> {
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
  const kept = names.filter((name) => !/(-shm|\.lock.*)$/.test(name));
  const files = kept.sort().map((name): [string, string] => {
    const bytes = readFileSync(join(folder, name));
    return [name, createHash("sha256").update(bytes).digest("hex")];
  });
  return new Map(files.filter(([, hash]) => hash !== EMPTY));
}

/** A server's data is its operator's: it is refused, named, and not touched. */
function damagedServer({ name, harm }: Harm): Case {
  return {
    name: `a server whose database lost ${name} refuses it, unchanged, and names the way out`,
    async run(_lab, random) {
      await using folder = await ServerFolder.create();
      const token = await folder.token();
      let server = await folder.server();
      const headers = { Authorization: `Bearer ${token}` };
      for (let at = 0; at < MEMORIES; at++) {
        const body = JSON.stringify({ key: `k${at}`, content: "x".repeat(2000), layer: "global" });
        await fetch(`${server.url}/v1/memories`, { method: "POST", headers, body });
      }
      const backup = folder.path("backup.db");
      await folder.memsync("server", "backup", backup);
      await server.process.end("SIGTERM");
      harm(folder.database, random);
      const before = filesOf(folder.folder, "memsync-server.db");
      const refused = await folder.run(["server", "--port", "0"]);
      equal(refused.status, 1);
      match(
        refused.stderr,
        /^memsync: the database \S+ is damaged \(.+\).*`memsync server restore/,
      );
      deepEqual(filesOf(folder.folder, "memsync-server.db"), before);
      await folder.memsync("server", "restore", backup);
      server = await folder.server();
      const answer = await fetch(`${server.url}/v1/memories`, { headers });
      equal(((await answer.json()) as { total: number }).total, MEMORIES);
    },
  };
}

function makeNewer(path: string): void {
  const database = new Database(path);
  database.exec("insert into schema_migrations (name) values ('replica-9999-from-the-future')");
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}

/** What a newer version wrote is for that version. */
const newer: Case = {
  name: "a database of a newer version is refused in a sentence and not touched",
  async run(lab) {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    await machine.up();
    await machine.memsync("set", "key", "value");
    await machine.down();
    makeNewer(join(machine.home, "memsync.db"));
    const before = filesOf(machine.home, "memsync.db");
    for (const args of [["up"], ["set", "key", "other"], ["get", "key"], ["list"]]) {
      const { status, stdout, stderr } = await machine.run(args);
      equal(status, 1, args.join(" "));
      equal(stdout, "");
      match(stderr, NEWER);
    }
    deepEqual(filesOf(machine.home, "memsync.db"), before);
    await using folder = await ServerFolder.create();
    await folder.token();
    makeNewer(folder.database);
    const untouched = filesOf(folder.folder, "memsync-server.db");
    for (const args of [
      ["server", "--port", "0"],
      ["server", "account", "list"],
    ]) {
      const { status, stderr } = await folder.run(args);
      equal(status, 1);
      match(stderr, NEWER);
    }
    deepEqual(filesOf(folder.folder, "memsync-server.db"), untouched);
  },
};

/** How to run as somebody whom permissions bind; undefined where that can't be done. */
async function asOther(lab: Lab): Promise<readonly string[] | undefined> {
  if (process.getuid?.() !== 0) return [];
  const as = ["setpriv", "--reuid", `${NOBODY}`, "--clear-groups"];
  await chmod(lab.git.folder, 0o777);
  const machine = lab.machine("probe", lab.git.folder);
  const tried = machine.spawnOther([...as, ...MEMSYNC, "--version"]).ended();
  const works = await tried.then(
    ({ status }) => status === 0,
    () => false,
  );
  return works ? as : undefined;
}

const readOnly: Case = {
  name: "a home that can't be written is told in a sentence, and comes back with its permissions",
  async run(lab) {
    const as = await asOther(lab);
    if (!as) {
      print("skipped: no other user can run the program here, and root writes everywhere");
      return;
    }
    const emulator = await lab.emulator();
    const machine = lab.machine("a", lab.git.path("plain"), emulator.account("read-only"));
    for (const folder of [machine.folder, machine.home]) {
      await mkdir(folder);
      if (as.length > 0) await chown(folder, NOBODY, NOBODY);
    }
    await writeFile(join(machine.folder, "README.md"), "");
    const run = (...args: string[]) => machine.spawnOther([...as, ...MEMSYNC, ...args]).ended();
    const up = async () => {
      const daemon = machine.spawnOther([...as, ...MEMSYNC, "up"]);
      await daemon.untilPrinted(/memsync is up/);
      return daemon;
    };
    let daemon = await up();
    equal((await run("set", "key", "value")).status, 0);
    await machine.untilSynced();
    await chmod(machine.home, 0o000);
    for (const args of [
      ["set", "key", "other"],
      ["get", "key"],
    ]) {
      const { status, stderr } = await run(...args);
      equal(status, 1);
      match(stderr, /^memsync: the home \S+ can't be read: mend its permissions[^\n]*\n$/);
    }
    ok(daemon.running, "the daemon stays up");
    await chmod(machine.home, 0o700);
    equal((await run("set", "key", "after")).stderr, "");
    await daemon.end("SIGTERM");
    // Its own folder a daemon would mend by itself.
    if (as.length > 0) await chown(machine.home, 0, 0);
    await chmod(machine.home, as.length > 0 ? 0o755 : 0o700);
    for (const args of as.length > 0 ? [["up"], ["set", "key", "refused"]] : []) {
      const { status, stderr } = await run(...args);
      equal(status, 1);
      match(stderr, /^memsync: [^\n]+ can't be [^\n]+: mend its permissions[^\n]*\n$/);
    }
    if (as.length > 0) await chown(machine.home, NOBODY, NOBODY);
    await chmod(machine.home, 0o700);
    daemon = await up();
    equal((await run("get", "key")).stdout, "after");
    deepEqual((await machine.status()).damaged, []);
    await waitFor("synced", () => machine.syncOnce());
    await daemon.end("SIGTERM");
  },
};

/** An empty or missing database is what a new server begins with. */
const servers = HARMS.filter(({ name }) => !name.startsWith("everything")).map(damagedServer);

export const REFUSALS: readonly Case[] = [
  anyOf(servers, "a server refuses a damaged database, unchanged, and names the way out"),
  newer,
  readOnly,
];
