import type { Activity } from "../../daemon/home/activity.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import type { Timer } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Running } from "../lifecycle/run-daemon.ts";
import type { Standing } from "../screen/standing.ts";
import { screenOf } from "../views/status-summary.ts";
import { frameOf, type Happened } from "./frame.ts";
import { LiveTerminal } from "./live-terminal.ts";

/** More events than fit on any terminal are not kept. */
const HAPPENED_MAX = 200;
/** Events of a burst are shown together. */
const BURST_MS = 100;
/** For changes without an event, such as a file that begins to wait. */
const POLL_MS = 2000;
/** Reading the status takes at most a twentieth of the time. */
const REST_FACTOR = 19;

/** Shows the daemon of this process on the whole terminal: its status and its events. */
export class LiveUp {
  readonly #terminal = new LiveTerminal({
    onRepaint: () => this.#paint(),
    onEnd: () => void process.kill(process.pid, "SIGINT"),
  });
  #happened: readonly Happened[] = [];
  #running: Running | undefined;
  #standing: Standing = { kind: "nowhere" };
  #status: DaemonStatus | undefined;
  #timer: Timer | undefined;
  #restMs = 0;
  #closed = false;

  /** The status that was shown last. */
  get status(): DaemonStatus | undefined {
    return this.#status;
  }

  /** Records an event. It is shown once there is a screen. */
  readonly onActivity = (activity: Activity): void => {
    this.#happened = [...this.#happened, { at: realWorld.now(), activity }].slice(-HAPPENED_MAX);
    if (this.#running) this.#lookAfter(Math.max(BURST_MS, this.#restMs));
  };

  /** Takes over the terminal until `close`. */
  open(running: Running, standing: Standing): void {
    if (this.#closed) return;
    this.#running = running;
    this.#standing = standing;
    this.#terminal.enter();
    this.#lookAfter(0);
  }

  /** Restores the terminal. May be called several times. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#terminal.leave();
  }

  #lookAfter(delayMs: number): void {
    if (this.#closed) return;
    this.#timer?.cancel();
    this.#timer = realWorld.setTimer(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const startedAt = realWorld.monotonic();
    // While a damaged database is rebuilt there is no daemon to ask.
    this.#status = await this.#read().catch(() => this.#status);
    this.#restMs = REST_FACTOR * (realWorld.monotonic() - startedAt);
    this.#paint();
    this.#lookAfter(Math.max(POLL_MS, this.#restMs));
  }

  async #read(): Promise<DaemonStatus | undefined> {
    return await this.#running?.daemon().status();
  }

  #paint(): void {
    const screen = screenOf();
    if (!screen || !this.#status || !this.#running) return;
    const notices = [...this.#running.notices().values()];
    const [status, standing, happened] = [this.#status, this.#standing, this.#happened];
    const view = { status, standing, notices, happened, now: realWorld.now() };
    this.#terminal.paint(frameOf(view, screen));
  }
}
