import { createHash } from "node:crypto";
import { accessSync, chmodSync, constants, mkdirSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { utf8Bytes } from "../../shared/limits.ts";

const PRIVATE_FOLDER = 0o700;

/** A unix socket's path may be no longer on some systems. */
const SOCKET_PATH_BYTES_MAX = 104;

/** Where one machine's state is kept: all of it in one folder. Two folders are two machines. */
export interface Home {
  readonly dir: string;
  /** The replica, and everything else that the daemon knows. */
  readonly database: string;
  /** The embedded service's data. */
  readonly service: string;
  /** Held by the running daemon for as long as its process lives. */
  readonly lock: string;
  /** Held by a command while it starts, stops or replaces the daemon. */
  readonly startLock: string;
  /** Which process the daemon is, written by it for as long as it runs. */
  readonly record: string;
  /** The gateway's unix socket, in a folder that only its owner may enter. */
  readonly socket: string;
  /** Address and token of the gateway's port, for `memsync env`. */
  readonly gateway: string;
  /** What the gateway's tokens are made with where its port is a fixed one. */
  readonly gatewayKey: string;
  readonly log: string;
  /** Tokens of services, where the system's keyring does not take them. */
  readonly credentials: string;
  /** This machine's name, in a line of text. */
  readonly machine: string;
  /** Whoever opens the database passes this gate, so that it is not exchanged meanwhile. */
  readonly gate: string;
  /** A copy of the links, for when the database can't be read. */
  readonly links: string;
  /** A folder of what commands tell until it was shown: conflicts, and what is held. */
  readonly notices: string;
}

/** The home that `MEMSYNC_HOME` names, else `.memsync` in the user's folder. Makes nothing. */
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
    gate: join(dir, "memsync.db.gate"),
    links: join(dir, "links.json"),
    notices: join(dir, "notices"),
  };
}

/** Makes the home and shuts others out. Throws one sentence when it can't be written. */
export function prepareHome(home: Home): void {
  try {
    for (const dir of [home.dir, resolve(home.socket, "..")]) {
      mkdirSync(dir, { recursive: true, mode: PRIVATE_FOLDER });
      chmodSync(dir, PRIVATE_FOLDER);
      accessSync(dir, constants.W_OK | constants.X_OK);
    }
  } catch (thrown) {
    throw new Error(
      `the home ${home.dir} can't be written: mend its permissions or set MEMSYNC_HOME to ` +
        `another folder (${messageOf(thrown)})`,
    );
  }
}

/** Where the folder's own path is too long for a socket, one in the system's temporary folder. */
function socketPath(dir: string): string {
  const path = join(dir, "daemon.sock");
  if (utf8Bytes(path) < SOCKET_PATH_BYTES_MAX) return path;
  const name = createHash("sha256").update(dir).digest("hex").slice(0, 16);
  return join(tmpdir(), `memsync-${userInfo().uid}-${name}`, "daemon.sock");
}
