/** The command, run in `/`, that starts a successor of a daemon that hangs. */
export interface DaemonSuccessor {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How a watchdog watches. */
export interface WatchdogOptions {
  /** Time between two checks. `beat` has to be called more often. */
  readonly intervalMs: number;
  /** After this many checks in a row without a beat the process is killed. */
  readonly missedMax: number;
  /** The file for the reason, and for a successor's output. */
  readonly log: string;
  /** Undefined where a service manager starts the next daemon. */
  readonly successor: DaemonSuccessor | undefined;
}

/** A running watchdog. It ends with the process, or by `stop`. */
export interface Watchdog {
  beat(): void;
  stop(): void;
}

/**
 * Watches this process's event loop from a thread of its own. When the loop hangs, it starts the
 * successor, which waits for the home's lock, and kills the process: everything acknowledged is on
 * the disk. It counts checks and not time, so that a sleep of the machine does not look like
 * hanging.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const source = new Blob([PROGRAM], { type: "application/javascript" });
  // The types of web workers lack Bun's option for a small heap.
  const small: object = { smol: true };
  const thread = new Worker(URL.createObjectURL(source), small);
  thread.unref();
  thread.postMessage({ ...options, successor: plain(options.successor), beats });
  return {
    beat: () => {
      Atomics.add(beats, 0, 1);
    },
    stop: () => thread.terminate(),
  };
}

function plain(successor: DaemonSuccessor | undefined): object | undefined {
  return successor && { command: [...successor.command], env: { ...successor.env } };
}

/**
 * The program as text, because a bundle or a compiled binary has no file for a thread to load. It
 * imports nothing: it must run when nothing else does.
 */
const PROGRAM = `
const { spawn } = process.getBuiltinModule("node:child_process");
const { openSync, writeSync } = process.getBuiltinModule("node:fs");

self.onmessage = ({ data: { beats, intervalMs, missedMax, log, successor } }) => {
  let last = -1;
  let missed = 0;
  setInterval(() => {
    const now = Atomics.load(beats, 0);
    missed = now === last ? missed + 1 : 0;
    last = now;
    if (missed >= missedMax) replace(log, successor);
  }, intervalMs);
};

function replace(path, successor) {
  try {
    const log = openSync(path, "a", 0o600);
    const line = { level: 50, time: Date.now(), msg: "the daemon hangs and is killed" };
    writeSync(log, JSON.stringify(line) + "\\n");
    if (successor) {
      const [program, ...args] = successor.command;
      const stdio = ["ignore", log, log];
      spawn(program, args, { env: successor.env, stdio, cwd: "/", detached: true }).unref();
    }
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}
`;
