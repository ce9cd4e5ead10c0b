import type { FileHandle } from "node:fs/promises";
import { LIMITS } from "../../shared/limits.ts";
import type { Timer, World } from "../../shared/world.ts";
import { textFrom } from "../disk/read-file.ts";
import type { FileContent } from "./file-edit.ts";
import type { FileState } from "./file-state.ts";

/** Looks are made after this long, then after twice as long each time. */
const FIRST_LOOK_MS = 50;
const KEPT_MS_MAX = 60_000;
/** Of so many files that lost their name to ours, newest first. */
const KEPT_MAX = 16;

/** A file whose name ours took. */
interface Replaced {
  readonly handle: FileHandle;
  readonly at: number;
  /** What it held when it was last taken. */
  state: FileState;
  /** Which bytes were looked at last; none at first. */
  signature: string | undefined;
}

/** Takes a save that was made from `base`; gives the state that it is now. */
type Take = (base: FileState, file: FileContent) => Promise<FileState>;

/**
 * Saves into files that have lost their name. A program that opened the followed file before we
 * replaced it writes on into the file that it has opened, which no path leads to any more: what it
 * saves there would be gone. So the replaced files stay open here and are looked at for a minute.
 */
export class LateSaves {
  readonly #world: World;
  readonly #changed: () => void;
  #kept: Replaced[] = [];
  #timer: Timer | undefined;

  /** `changed` is called when there may be something to take. */
  constructor(world: World, changed: () => void) {
    this.#world = world;
    this.#changed = changed;
  }

  /** Keeps a replaced file, which held `state` when we looked last; it is closed here. */
  async add(handle: FileHandle, state: FileState): Promise<void> {
    this.#kept.unshift({ handle, at: this.#world.monotonic(), state, signature: undefined });
    await closeAll(this.#kept.splice(KEPT_MAX));
    this.#schedule(FIRST_LOOK_MS);
  }

  /** Takes what was saved late. A file that is being written is left for the next look. */
  async take(take: Take): Promise<void> {
    for (const replaced of this.#kept) {
      const signature = await signatureOf(replaced.handle);
      if (signature === replaced.signature) continue;
      const file = await readTwice(replaced.handle);
      if (!file) continue;
      if (file.hash !== replaced.state.hash) replaced.state = await take(replaced.state, file);
      replaced.signature = signature;
    }
    const isOld = ({ at }: Replaced) => this.#world.monotonic() - at > KEPT_MS_MAX;
    await closeAll(this.#kept.filter(isOld));
    this.#kept = this.#kept.filter((replaced) => !isOld(replaced));
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await closeAll(this.#kept.splice(0));
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#world.setTimer(delayMs, () => void this.#look(delayMs));
  }

  async #look(delayMs: number): Promise<void> {
    if (this.#kept.length === 0) return;
    const signatures = await Promise.all(this.#kept.map(({ handle }) => signatureOf(handle)));
    if (
      delayMs > KEPT_MS_MAX ||
      this.#kept.some(({ signature }, at) => signature !== signatures[at])
    ) {
      this.#changed();
    }
    this.#schedule(delayMs * 2);
  }
}

/** Undefined when the file is closed. */
async function signatureOf(handle: FileHandle): Promise<string | undefined> {
  const stats = await handle.stat({ bigint: true }).catch(() => undefined);
  return stats && `${stats.size} ${stats.mtimeNs}`;
}

/** The file's text, if it is one and stands still. One that was emptied is about to be written. */
async function readTwice(handle: FileHandle): Promise<FileContent | undefined> {
  const [once, again] = [await readText(handle), await readText(handle)];
  return once && once.hash === again?.hash && once.content.trim() !== "" ? once : undefined;
}

async function readText(handle: FileHandle): Promise<FileContent | undefined> {
  const { mtimeMs } = await handle.stat();
  // One byte more than may be there: a file that is too large is refused, not cut.
  const buffer = Buffer.alloc(LIMITS.claudeMdBytes + 1);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
  const text = textFrom("", buffer.subarray(0, bytesRead), mtimeMs);
  return text.kind === "text" ? text : undefined;
}

async function closeAll(replaced: readonly Replaced[]): Promise<void> {
  await Promise.all(replaced.map(({ handle }) => handle.close()));
}
