import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DemoMachine } from "../../cli/demo/demo-machine.ts";
import { isObject } from "../../shared/json.ts";
import { PostgresFolders } from "./postgres-folders.ts";
import { runOnPostgres } from "./postgres-servers.ts";
import { openWay } from "./postgres-way.ts";
import type { RunningProcess } from "./running-process.ts";
import { ServerFolder } from "./server-process.ts";
import { waitFor } from "./wait-for.ts";

const GUIDE = join(import.meta.dir, "../../docs/operating.md");

/** A project that no machine has: whoever writes it calls the interface. */
const REST = "proj_rest";

/** The project of the machines. */
export const SHOP = "proj_shop";

/** Longer than what an index of PostgreSQL holds, and not to be compressed. */
const LONG_KEY = randomBytes(3000).toString("base64");

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
export async function steps(begin: string): Promise<string> {
  const blocks = (await Bun.file(GUIDE).text()).matchAll(/^```sh\n([\s\S]*?)^```$/gm);
  const found = [...blocks].flatMap(([, block = ""]) => (block.startsWith(begin) ? [block] : []));
  expect([begin, found.length]).toEqual([begin, 1]);
  return found[0] ?? "";
}

/** Where a server listens, over which way it finds its database, and its process. */
interface Placed {
  readonly way: Awaited<ReturnType<typeof openWay>>;
  url: string;
  process?: RunningProcess;
}

/** A machine with a daemon, whose file grows by lines. */
async function startMachine(root: string, name: string, service: { url: string; token: string }) {
  const machine = await DemoMachine.start(root, name, service);
  return {
    lines: () => machine.lines(),
    /** Saves a line behind those that the file has. */
    async save(line: string) {
      await machine.save([...(await machine.lines()), line, ""].join("\n"));
      await waitFor("the save to be read", () => machine.isSaved());
    },
    synced: () => waitFor("a sync", () => machine.sync()),
    stop: () => machine.stop(),
  };
}

/** Calls of the interface, at one server. */
function callsAt(server: Placed, token: string) {
  const ask = (path: string, body?: object, by = token) =>
    fetch(`${server.url}${path}`, {
      headers: { Authorization: `Bearer ${by}` },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
  const keysOf = async (id: string) => {
    const text = await (await ask(`/v1/memories?layer=project&project_id=${id}`)).text();
    return [...text.matchAll(/"key":"([^"]+)"/g)].map(([, key = ""]) => key);
  };
  return {
    /** A project of which machines hear that have a copy of it. */
    make: (id: string) =>
      ask("/api/projects", { id, name: id, metadata: { short: 1, [LONG_KEY]: 1 } }),
    /** Whether a project's metadata is what it was made with. */
    isAsMade: async (id = REST) => {
      const project: unknown = await (await ask(`/api/projects/${id}`)).json();
      const metadata = isObject(project) ? project.metadata : undefined;
      return Bun.deepEquals(metadata, { short: 1, [LONG_KEY]: 1 });
    },
    write: (key: string, { by = token, id = REST } = {}) =>
      ask("/v1/memories", { key, content: key, project_id: id }, by),
    /** What was written by calls alone, or what a project has. */
    keys: (id = REST) => keysOf(id),
    hasLines: async (...lines: readonly string[]) => {
      const project = await (await ask(`/api/projects/${SHOP}`)).text();
      return lines.every((line) => project.includes(line));
    },
  };
}

/**
 * A primary, two servers with a way each to whatever has taken its place, and a machine with a
 * daemon at the first of them.
 */
export async function openScene() {
  const folders = new PostgresFolders(["PRIMARY", "STANDBY", "ARCHIVE", "BACKUP", "RESTORED"]);
  folders.run("PRIMARY", PRIMARY);
  await runOnPostgres(folders.address("PRIMARY", "postgres"), "CREATE DATABASE memsync");
  const newServer = async (): Promise<Placed> => {
    return { way: await openWay(folders.address("PRIMARY")), url: "http://127.0.0.1:0" };
  };
  const [one, two] = [await newServer(), await newServer()];
  const servers = [one, two];
  const server = await ServerFolder.create("bun", one.way.address);
  const token = await server.token();
  /** At the ports that they have had before, if they have had any. */
  const startServers = async (database = "memsync") => {
    const starting = servers.map(async (each) => {
      const { href } = Object.assign(new URL(each.way.address), { pathname: `/${database}` });
      each.process = server.spawn(["server", "--port", new URL(each.url).port, "--limits", "off"], {
        MEMSYNC_SERVER_DATABASE_URL: href,
      });
      each.url = await each.process.untilPrinted(/memsync server ready at (\S+)/);
    });
    await Promise.all(starting);
  };
  await startServers();
  const root = mkdtempSync(join(tmpdir(), "memsync-machine-"));
  const machines: Awaited<ReturnType<typeof startMachine>>[] = [];
  const newMachine = async (name: string, at: Placed) => {
    const machine = await startMachine(root, name, { url: at.url, token });
    machines.push(machine);
    return machine;
  };
  const machine = await newMachine("laptop", one);
  await callsAt(two, token).make(REST);
  return {
    folders,
    server,
    token,
    machine,
    /** Another one, at the second server. */
    otherMachine: () => newMachine("desktop", two),
    one: callsAt(one, token),
    two: callsAt(two, token),
    urls: [one.url, two.url] as const,
    /** From now on the servers find their database there: both, or one of them. */
    lead(address: string, which: readonly number[] = [0, 1]) {
      for (const at of which) servers[at]?.way.lead(address);
    },
    get leadsTo() {
      return two.way.leadsTo;
    },
    /** Ends the servers, as the guide wants it before a restore. */
    endServers: () => Promise.all(servers.map((each) => each.process?.end("SIGTERM"))),
    startServers,
    epochOf: async (name: string, database = "memsync") => {
      const address = folders.address(name, database);
      return (await runOnPostgres(address, "SELECT epoch FROM incarnation"))[0]?.epoch;
    },
    async [Symbol.asyncDispose]() {
      for (const each of machines) await each.stop();
      await server[Symbol.asyncDispose]();
      for (const { way } of servers) way.close();
      folders[Symbol.dispose]();
      rmSync(root, { recursive: true });
    },
  };
}
