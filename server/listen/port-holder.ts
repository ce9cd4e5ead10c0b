import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** A process that listens on a port. */
export interface PortHolder {
  readonly pid: number;
  /** Its program, and what that was told to do: `node server.js`. */
  readonly command: string;
}

/** The state of a socket that listens, in a table of `/proc/net`; see proc_pid_net(5). */
const LISTENING = "0A";

/** Words of a command line, before its options, that say what it is; others may be secrets. */
const WORDS_MAX = 3;

/**
 * Who listens on a TCP port of this machine, as far as Linux tells this user: undefined for another
 * user's process, and on other systems.
 */
export function portHolder(port: number): PortHolder | undefined {
  const sockets = new Set([...listeningOn(port)].map((inode) => `socket:[${inode}]`));
  if (sockets.size === 0) return undefined;
  for (const pid of entriesOf("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const holds = entriesOf(`/proc/${pid}/fd`).some((fd) =>
      sockets.has(attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? ""),
    );
    if (holds) return { pid: Number(pid), command: commandOf(pid) };
  }
  return undefined;
}

function* listeningOn(port: number): Generator<string> {
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const text = attempt(() => readFileSync(table, "latin1")) ?? "";
    for (const line of text.split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      const isThere = Number.parseInt(local.split(":")[1] ?? "", 16) === port;
      if (isThere && state === LISTENING) yield inode;
    }
  }
}

function commandOf(pid: string): string {
  const line = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
  const words = line.split("\0").filter((word) => word !== "");
  const option = words.findIndex((word) => word.startsWith("-"));
  const told = words.slice(0, option === -1 ? WORDS_MAX : Math.min(option, WORDS_MAX));
  return told.map((word) => basename(word)).join(" ");
}

function entriesOf(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}

/** Undefined for what is not there, or not for this user. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
