// The folder with all that one machine keeps, and where each thing in it is.
// The daemon and the command line both import from here.

import { createHash } from "node:crypto";
import { accessSync, chmodSync, constants, existsSync, mkdirSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { utf8Bytes } from "../../shared/limits.ts";
import { isNoRoom, unforeseen } from "../../shared/sqlite/failures.ts";

const PRIVATE_FOLDER = 0o700;

/** Some systems allow no longer path for a unix socket. */
const SOCKET_PATH_BYTES_MAX = 104;

/** The folder with all of one machine's state. Two homes count as two machines. */
export interface Home {
  readonly dir: string;
  /** The replica, and everything else that the daemon knows. */
  readonly database: string;
  /** The data of the embedded service. */
  readonly service: string;
  /** Locked by the running daemon while its process lives. */
  readonly lock: string;
  /** Locked by a command while it starts, stops or replaces the daemon. */
  readonly startLock: string;
  /** Which process the daemon is. The daemon writes it while it runs. */
  readonly record: string;
  /** The gateway's unix socket, in a folder that only the owner can enter. */
  readonly socket: string;
  /** Address and token of the gateway's port, for `memsync env`. */
  readonly gateway: string;
  /** The key of the gateway's tokens, where its port is fixed. */
  readonly gatewayKey: string;
  readonly log: string;
  /** Tokens of services, where the system's keyring does not store them. */
  readonly credentials: string;
  /** This machine's name, in a line of text. */
  readonly machine: string;
  /** What tells this home from every other one, whatever its machine is called. */
  readonly identity: string;
  /** Locked by everybody who opens the database, so that it is not replaced meanwhile. */
  readonly gate: string;
  /** A copy of the links, in case the database becomes unreadable. */
  readonly links: string;
  /** A copy of what people have decided about this machine's files, for the same case. */
  readonly choices: string;
  /** Notices about conflicts and held writes that no command has shown yet. */
  readonly notices: string;
  /** If it exists, sessions of assistants are neither read nor sent. */
  readonly noSessions: string;
  /** Since when, and until when, they were not, for the look that has to find those of then. */
  readonly offPeriod: string;
  /** What assistants wrote about sessions that they compacted. */
  readonly summaries: string;
  /** Which sessions of assistants were told what is known of their project. */
  readonly hooks: string;
  /** What `memsync setup` changed in the settings of assistants, to take it back. */
  readonly setup: string;
}

/**
 * The home that `MEMSYNC_HOME` names, else `.memsync` in the user's folder. Creates nothing.
 *
 * ```
 * homeOf({ MEMSYNC_HOME: "/srv/memsync" }).database; // "/srv/memsync/memsync.db"
 * ```
 */
export function homeOf(env: Readonly<Record<string, string | undefined>>): Home {
  const dir = resolve(env.MEMSYNC_HOME || join(homedir(), ".memsync"));
  return {
    dir,
    database: join(dir, "memsync.db"),
    service: join(dir, "service.db"),
    lock: join(dir, "daemon.lock"),
    startLock: join(dir, "start.lock"),
    record: join(dir, "daemon.json"),
    socket: socketPath(dir),
    gateway: join(dir, "gateway.json"),
    gatewayKey: join(dir, "gateway-key"),
    log: join(dir, "daemon.log"),
    credentials: join(dir, "credentials.json"),
    machine: join(dir, "machine"),
    identity: join(dir, "identity"),
    gate: join(dir, "memsync.db.gate"),
    links: join(dir, "links.json"),
    choices: join(dir, "choices"),
    notices: join(dir, "notices"),
    noSessions: join(dir, "sessions-off"),
    offPeriod: join(dir, "sessions-off-period.json"),
    summaries: join(dir, "summaries"),
    hooks: join(dir, "hooks"),
    setup: join(dir, "setup.json"),
  };
}

/** A folder that `exec` or `demo` made, as `mkdtemp` names it: none that somebody has named. */
export const SCRATCH_NAME = /^memsync-(?:exec|demo)-[0-9A-Za-z]{6}$/;

/**
 * Creates the home, readable by its owner only. Throws one sentence where it can't be written, or
 * where it was in a folder of `exec` that is gone: made anew, nobody would ever delete it.
 */
export function prepareHome(home: Home): void {
  const around = dirname(home.dir);
  if (SCRATCH_NAME.test(basename(around)) && !existsSync(around)) {
    throw new Error(`the home ${home.dir} is gone, with the memsync command that made it`);
  }
  try {
    for (const dir of [home.dir, resolve(home.socket, "..")]) {
      mkdirSync(dir, { recursive: true, mode: PRIVATE_FOLDER });
      chmodSync(dir, PRIVATE_FOLDER);
      accessSync(dir, constants.W_OK | constants.X_OK);
    }
  } catch (thrown) {
    const sentence =
      `the home ${home.dir} can't be written: mend its permissions or set MEMSYNC_HOME to ` +
      `another folder (${messageOf(thrown)})`;
    throw new Error(isNoRoom(thrown) ? unforeseen(thrown, home.dir) : sentence, { cause: thrown });
  }
}

/** In the system's temporary folder where the home's own path is too long for a socket. */
function socketPath(dir: string): string {
  const path = join(dir, "daemon.sock");
  if (utf8Bytes(path) < SOCKET_PATH_BYTES_MAX) return path;
  const name = createHash("sha256").update(dir).digest("hex").slice(0, 16);
  return join(tmpdir(), `memsync-${userInfo().uid}-${name}`, "daemon.sock");
}
