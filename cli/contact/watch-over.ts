import type { Home } from "../../daemon/home/home.ts";
import type { Started } from "../../daemon/supervise/introduction.ts";
import { openServiceNotifier } from "../../daemon/supervise/notify-systemd.ts";
import { SelfCheck } from "../../daemon/supervise/self-check.ts";
import { selfCommand } from "../../daemon/supervise/self-command.ts";
import { startWatchdog, type Watchdog } from "../../daemon/supervise/watchdog.ts";
import { realWorld } from "../../shared/world-real.ts";
import { contactDaemon } from "./daemon-contact.ts";

/** The daemon to watch, and what to do when only a restart helps. */
export interface Watched {
  readonly home: Home;
  readonly started: Started;
  readonly intervalMs?: number;
  readonly onSick: (reason: string) => void;
}

const INTERVAL_MS = 15_000;
/** One piece of work, such as a rewrite, may block the event loop for this many intervals. */
const MISSED_MAX = 8;

/**
 * Checks from within whether the daemon answers, and has somebody else check that it runs at all:
 * systemd where it listens, else a thread. At a terminal, nobody: a person is there. Resolves to a
 * function that ends this.
 */
export async function watchOver(watched: Watched): Promise<() => void> {
  const { home, onSick, intervalMs = INTERVAL_MS } = watched;
  const systemd = await openServiceNotifier(process.env.NOTIFY_SOCKET);
  // The variable is for this process only.
  delete process.env.NOTIFY_SOCKET;
  systemd?.ready();
  const thread = systemd ? undefined : watchFromThread(watched, intervalMs);
  const check = new SelfCheck({
    world: realWorld,
    intervalMs,
    answers: async () => (await contactDaemon(home))?.introduction.pid === process.pid,
    cpuMs,
    onBeat: () => {
      systemd?.alive();
      thread?.beat();
    },
    onSick,
  });
  return () => {
    systemd?.stopping();
    check.stop();
    thread?.stop();
  };
}

function watchFromThread({ home, started }: Watched, intervalMs: number): Watchdog | undefined {
  if (started === "foreground") return undefined;
  const command = [...selfCommand(), ...process.argv.slice(2)];
  const successor = started === "background" ? { command, env: process.env } : undefined;
  return startWatchdog({ intervalMs, missedMax: MISSED_MAX, log: home.log, successor });
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
