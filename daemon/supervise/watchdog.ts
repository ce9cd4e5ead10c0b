/** Whom to start in the place of a daemon that hangs: a command, run in `/`. */
export interface DaemonSuccessor {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How a watchdog watches. */
export interface WatchdogOptions {
  /** Time between two of its looks; `beat` has to be called more often. */
  readonly intervalMs: number;
  /** As many looks in a row without a beat, and the process is killed. */
  readonly missedMax: number;
  /** Where it says why, and where a successor's output goes. */
  readonly log: string;
  /** Undefined where a service manager starts the next one. */
  readonly successor: DaemonSuccessor | undefined;
}

/** A running watchdog; it ends with the process or by `stop`. */
export interface Watchdog {
  beat(): void;
  stop(): void;
}

/**
 * Watches this process's event loop from a thread of its own. Once the loop hangs it starts the
 * successor, which waits for the home's lock, and kills the process: what was acknowledged is on
 * the disk. Looks are counted, not time, so that a machine's sleep is no hanging.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const source = new Blob([PROGRAM], { type: "application/javascript" });
  // Bun's option for a small heap is missing in the types of the web's workers.
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
 * As text, because a bundle and a compiled binary have no file for a thread to load. It is all that
 * runs when nothing else does, so it needs nothing else.
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
