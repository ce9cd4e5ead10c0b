import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DemoMachine } from "../../cli/demo/demo-machine.ts";
import { inCi, testWith } from "../support/needs.ts";
import { POSTGRES_PROGRAMS, PostgresFolders } from "../support/postgres-folders.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { openWay } from "../support/postgres-way.ts";
import type { RunningProcess } from "../support/running-process.ts";
import { ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const GUIDE = join(import.meta.dir, "../../docs/operating.md");
const TIMEOUT_MS = 240_000;

/** A project that no machine has: whoever writes it calls the interface. */
const REST = "proj_rest";

/** A new primary that keeps its log in the folder ARCHIVE, as a base for everything below. */
const PRIMARY = `
  mkdir "$ARCHIVE"
  printf memsync > password
  initdb --pgdata "$PRIMARY" --username memsync --auth password \\
    --pwfile password --encoding UTF8 --locale C
  cat >> "$PRIMARY/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$PWD'
archive_mode = on
archive_command = 'test ! -f "$ARCHIVE/%f" && cp "%p" "$ARCHIVE/%f"'
END
  pg_ctl start --wait --silent --pgdata "$PRIMARY" --log primary.log
`;

/** The commands of the guide in the block that begins so. */
async function steps(begin: string): Promise<string> {
  const blocks = (await Bun.file(GUIDE).text()).matchAll(/^```sh\n([\s\S]*?)^```$/gm);
  const found = [...blocks].flatMap(([, block = ""]) => (block.startsWith(begin) ? [block] : []));
  expect([begin, found.length]).toEqual([begin, 1]);
  return found[0] ?? "";
}

/** A primary, a way to whatever has taken its place, two servers, and a machine with a daemon. */
async function openScene() {
  const folders = new PostgresFolders(["PRIMARY", "STANDBY", "ARCHIVE", "BACKUP", "RESTORED"]);
  folders.run("PRIMARY", PRIMARY);
  await runOnPostgres(folders.address("PRIMARY", "postgres"), "CREATE DATABASE memsync");
  const way = await openWay(folders.address("PRIMARY"));
  const server = await ServerFolder.create("bun", way.address);
  const token = await server.token();
  let urls = ["http://127.0.0.1:0", "http://127.0.0.1:0"];
  let servers: readonly RunningProcess[] = [];
  /** At the ports that they have had before, if they have had any. */
  const startServers = async () => {
    const ports = urls.map((url) => new URL(url).port);
    servers = ports.map((port) => server.spawn(["server", "--port", port, "--limits", "off"]));
    const ready = servers.map((each) => each.untilPrinted(/memsync server ready at (\S+)/));
    urls = await Promise.all(ready);
  };
  await startServers();
  const root = mkdtempSync(join(tmpdir(), "memsync-machine-"));
  const [one = "", two = ""] = urls;
  const machine = await DemoMachine.start(root, "laptop", { url: one, token });
  const lines: string[] = [];
  const headers = { Authorization: `Bearer ${token}` };
  const made = JSON.stringify({ id: REST, name: "rest" });
  await fetch(`${one}/api/projects`, { method: "POST", headers, body: made });
  return {
    folders,
    way,
    server,
    /** Ends the servers, as the guide wants it before a restore. */
    endServers: () => Promise.all(servers.map((each) => each.end("SIGTERM"))),
    startServers,
    epochOf: async (name: string) =>
      (await runOnPostgres(folders.address(name), "SELECT epoch FROM incarnation"))[0]?.epoch,
    /** The machine's daemon saves a line. */
    async save(line: string) {
      lines.push(line);
      await machine.save(`${lines.join("\n")}\n`);
      await waitFor("the save to be read", () => machine.isSaved());
    },
    synced: () => waitFor("a sync", () => machine.sync()),
    write: async (key: string, by = token) =>
      await fetch(`${two}/v1/memories`, {
        method: "POST",
        headers: { Authorization: `Bearer ${by}` },
        body: JSON.stringify({ key, content: key, project_id: REST }),
      }),
    /** Whether a server has the machine's file, and which keys it has of what was written. */
    async told() {
      const project = await (await fetch(`${two}/api/projects/proj_shop`, { headers })).text();
      const memories = await (
        await fetch(`${two}/v1/memories?layer=project&project_id=${REST}`, { headers })
      ).text();
      const keys = [...memories.matchAll(/"key":"([^"]+)"/g)].map(([, key = ""]) => key);
      return { hasFile: lines.every((line) => project.includes(line)), keys };
    },
    async [Symbol.asyncDispose]() {
      await machine.stop();
      await server[Symbol.asyncDispose]();
      way.close();
      folders[Symbol.dispose]();
      rmSync(root, { recursive: true });
    },
  };
}

testWith(
  inCi(POSTGRES_PROGRAMS),
  "a standby that lacks the last writes takes over by the guide's steps, and daemons bring them back",
  async () => {
    await using scene = await openScene();
    const { folders, way } = scene;
    const address = { ADDRESS: folders.address("PRIMARY", "postgres") };
    await scene.save("- first");
    await scene.synced();
    folders.run(
      "STANDBY",
      await steps('pg_basebackup --dbname "$ADDRESS" --pgdata "$STANDBY"'),
      address,
    );
    expect((await scene.write("kept")).status).toBe(200);
    const standby = (...sql: readonly string[]) =>
      runOnPostgres(folders.address("STANDBY"), ...sql);
    const count = "SELECT count(*)::int AS found FROM memories WHERE key = 'kept'";
    await waitFor("the standby to follow", async () => (await standby(count))[0]?.found === 1);
    // It follows no more. Nobody has told it what comes now.
    await standby("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()");
    const receivers = "SELECT count(*)::int AS found FROM pg_stat_wal_receiver";
    await waitFor("the stream to end", async () => (await standby(receivers))[0]?.found === 0);
    expect((await scene.write("lost")).status).toBe(200);
    await scene.save("- of the tail");
    await scene.synced();
    const before = await scene.epochOf("PRIMARY");

    let isOver = false;
    const acknowledged: string[] = [];
    const writing = (async () => {
      for (let at = 0; !isOver; at++) {
        const wasPromoted = way.leadsTo === folders.address("STANDBY");
        const { status } = await scene.write(`during-${at}`);
        if (status === 200 && wasPromoted) acknowledged.push(`during-${at}`);
      }
    })();
    await scene.save("- while nothing answers");
    folders.run("STANDBY", await steps('pg_ctl stop --mode immediate --pgdata "$PRIMARY"'));
    way.lead(folders.address("STANDBY"));
    await waitFor("writes to go on", () => acknowledged.length > 2);
    isOver = true;
    await writing;
    await scene.save("- afterwards");
    await scene.synced();
    await waitFor("the daemon to bring its file", async () => (await scene.told()).hasFile);
    const { keys } = await scene.told();
    for (const key of ["kept", ...acknowledged]) expect(keys).toContain(key);
    // What was written by REST alone is gone, as the guide says.
    expect(keys).not.toContain("lost");
    expect(await scene.epochOf("STANDBY")).not.toBe(before);
  },
  TIMEOUT_MS,
);

testWith(
  inCi(POSTGRES_PROGRAMS),
  "a database that is put back to a moment by the guide's steps gets from daemons what came later",
  async () => {
    await using scene = await openScene();
    const { folders, way, server } = scene;
    const address = { ADDRESS: folders.address("PRIMARY", "postgres") };
    const primary = (...sql: readonly string[]) =>
      runOnPostgres(folders.address("PRIMARY"), ...sql);
    folders.run(
      "BACKUP",
      await steps('pg_basebackup --dbname "$ADDRESS" --pgdata "$BACKUP"'),
      address,
    );
    const lent = await server.token("acme", "--name", "lent");
    await scene.save("- before the moment");
    await scene.synced();
    expect((await scene.write("before")).status).toBe(200);
    const [row] = await primary("SELECT clock_timestamp()::text AS moment");
    const moment = { MOMENT: String(row?.moment) };
    await scene.save("- after the moment");
    await scene.synced();
    expect((await scene.write("after")).status).toBe(200);
    const revoke = async () => {
      const listed = await server.memsync("server", "token", "list");
      const id = /^(tok_\w+) +lent /m.exec(listed)?.[1] ?? "";
      await server.memsync("server", "token", "revoke", id);
    };
    await revoke();
    await primary("SELECT pg_switch_wal()");
    const before = await scene.epochOf("PRIMARY");

    await scene.endServers();
    folders.run("RESTORED", await steps('pg_ctl stop --mode fast --pgdata "$PRIMARY"'), moment);
    way.lead(folders.address("RESTORED"));
    await waitFor("the end of the recovery", async () => {
      const asked = "SELECT pg_is_in_recovery() AS is_standby";
      return (await runOnPostgres(folders.address("RESTORED"), asked))[0]?.is_standby === false;
    });
    // It is valid again, and is revoked before any server is started.
    await revoke();
    await scene.startServers();
    expect((await scene.told()).keys).toEqual(["before"]);
    const refused = await scene.write("refused", lent);
    expect(refused.status).toBe(401);
    await scene.synced();
    await waitFor("the daemon to bring its file", async () => (await scene.told()).hasFile);
    expect(await scene.epochOf("RESTORED")).not.toBe(before);
  },
  TIMEOUT_MS,
);
