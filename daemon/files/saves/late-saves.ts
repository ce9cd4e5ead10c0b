import type { FileHandle } from "node:fs/promises";
import { LIMITS } from "../../../shared/limits.ts";
import type { Timer, World } from "../../../shared/world.ts";
import { textFrom } from "../../disk/read-file.ts";
import type { FileState } from "../lines/file-state.ts";
import type { FileContent } from "../state/file-edit.ts";
import { UnfinishedText, withoutMissingEnd } from "../state/unfinished.ts";

/** The first look comes after this time, each later one after twice the time before. */
const FIRST_LOOK_MS = 50;
/** A replaced file is kept for this time. The last look comes at its end. */
const KEPT_MS_MAX = 60_000;
/** While this many replaced files are open, no further one is replaced. */
export const KEPT_MAX = 256;

/** A file whose name our file took. */
interface Replaced {
  readonly handle: FileHandle;
  readonly at: number;
  /** The state at which its text was last taken. */
  state: FileState;
  /** Size and time at the last look; undefined before the first. */
  signature: string | undefined;
  readonly unfinished: UnfinishedText;
  /** The hash of the half-written text that is in the history. */
  kept: string | undefined;
}

/** Takes a save that was made from `base`. Returns the file's new state. */
type Take = (base: FileState, file: FileContent) => Promise<FileState>;

interface TakeLateOptions {
  /** This is the last look: what is not written yet deletes nothing. */
  readonly isLast?: boolean;
  /** Keeps a save that may be half written meanwhile: it is nowhere else. */
  readonly keep?: (file: FileContent) => Promise<void>;
}

/**
 * Finds saves into replaced files. A program that opened the followed file before it was replaced
 * goes on writing into the old file, to which no path leads any more: that save would be lost. So
 * replaced files stay open here and are looked at for a minute.
 */
export class LateSaves {
  readonly #world: World;
  readonly #changed: () => void;
  #kept: Replaced[] = [];
  #timer: Timer | undefined;
  /** When a half-written file has stood unchanged for long enough. */
  #again: Timer | undefined;
  #isWaiting = false;

  /** `changed` is called when there may be a save to take. */
  constructor(world: World, changed: () => void) {
    this.#world = world;
    this.#changed = changed;
  }

  /** Whether another one has to wait until one is closed: none is given up before its time. */
  get isFull(): boolean {
    return this.#kept.length >= KEPT_MAX;
  }

  /** Whether a save that may be half written is not taken yet. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Keeps a replaced file that had `state` at the last look, and closes it later. */
  async add(handle: FileHandle, state: FileState): Promise<void> {
    const unfinished = new UnfinishedText({ world: this.#world, isWatched: true });
    const at = this.#world.monotonic();
    this.#kept.unshift({ handle, at, state, signature: undefined, unfinished, kept: undefined });
    this.#schedule(FIRST_LOOK_MS);
  }

  /**
   * Takes late saves. A file that is just being written is left for a later look.
   */
  async take(take: Take, { isLast = false, keep }: TakeLateOptions = {}): Promise<void> {
    const unfinished = new Map<Replaced, number>();
    for (const replaced of this.#kept) {
      const signature = await signatureOf(replaced.handle);
      if (signature === replaced.signature) continue;
      const file = await readTwice(replaced.handle, { isLast });
      if (!file) continue;
      const leftMs = await replaced.unfinished.left(replaced.state, file);
      if (leftMs > 0 && !isLast) {
        unfinished.set(replaced, leftMs);
        if (file.hash !== replaced.kept) await keep?.(file);
        replaced.kept = file.hash;
        continue;
      }
      const base = leftMs > 0 ? withoutMissingEnd(replaced.state, file) : replaced.state;
      if (file.hash !== base.hash) replaced.state = await take(base, file);
      replaced.signature = signature;
    }
    this.#again?.cancel();
    this.#isWaiting = unfinished.size > 0;
    if (this.#isWaiting) {
      this.#again = this.#world.setTimer(Math.min(...unfinished.values()), this.#changed);
    }
    const over = this.#kept.filter((each) => !unfinished.has(each) && this.#isOld(each));
    this.#kept = this.#kept.filter((replaced) => !over.includes(replaced));
    await closeAll(over);
  }

  #isOld({ at }: Replaced): boolean {
    return this.#world.monotonic() - at >= KEPT_MS_MAX;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#again?.cancel();
    await closeAll(this.#kept.splice(0));
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    if (this.#kept.length === 0) return;
    const now = this.#world.monotonic();
    const ends = this.#kept.flatMap((each) => {
      return this.#isOld(each) ? [] : [each.at + KEPT_MS_MAX - now];
    });
    const waitMs = Math.min(delayMs, ...ends);
    this.#timer = this.#world.setTimer(waitMs, () => void this.#look(delayMs));
  }

  async #look(delayMs: number): Promise<void> {
    const kept = [...this.#kept];
    const signatures = await Promise.all(kept.map(({ handle }) => signatureOf(handle)));
    const isDue = (replaced: Replaced, at: number) =>
      this.#isOld(replaced) || replaced.signature !== signatures[at];
    if (kept.some(isDue)) this.#changed();
    this.#schedule(delayMs * 2);
  }
}

/** Undefined when the file is closed. */
async function signatureOf(handle: FileHandle): Promise<string | undefined> {
  const stats = await handle.stat({ bigint: true }).catch(() => undefined);
  return stats && `${stats.size} ${stats.mtimeNs}`;
}

/**
 * The file's text, if two reads give the same one, or nobody will read again. An emptied file is
 * about to be written.
 */
async function readTwice(
  handle: FileHandle,
  { isLast }: { readonly isLast: boolean },
): Promise<FileContent | undefined> {
  const [once, again] = [await readText(handle), await readText(handle)];
  const isWhole = isLast || once?.hash === again?.hash;
  return isWhole && again?.content.trim() !== "" ? again : undefined;
}

async function readText(handle: FileHandle): Promise<FileContent | undefined> {
  const { mtimeMs } = await handle.stat();
  // One byte more than the limit, so that a file that is too large is refused and not cut.
  const buffer = Buffer.alloc(LIMITS.claudeMdBytes + 1);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
  const text = textFrom("", buffer.subarray(0, bytesRead), mtimeMs);
  return text.kind === "text" ? text : undefined;
}

async function closeAll(replaced: readonly Replaced[]): Promise<void> {
  await Promise.all(replaced.map(({ handle }) => handle.close()));
}
