import type { World } from "../../../shared/world.ts";
import type { FileContent } from "../../files/state/file-edit.ts";
import { isUncut, UnfinishedText } from "../../files/state/unfinished.ts";

/** A file as the last look found it, or as it was written since. */
interface ShownFile {
  readonly content: string;
  readonly unfinished: UnfinishedText;
}

/**
 * Which files may still have the end of a longer text over which a shorter one is being written;
 * see `isUncut`. What else is half written has no end mark, and so no block.
 */
export class UncutFiles {
  readonly #world: Pick<World, "monotonic">;
  readonly #shown = new Map<string, ShownFile>();

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** Whether a file that was read is not to be taken yet. One that is shows this from then on. */
  async isUncut(path: string, file: FileContent): Promise<boolean> {
    if (((await this.#shown.get(path)?.unfinished.left(undefined, file)) ?? 0) > 0) return true;
    this.show(path, file.content);
    return false;
  }

  /** What a file shows; undefined: nobody has looked. */
  shown(path: string): string | undefined {
    return this.#shown.get(path)?.content;
  }

  /** The file was written. */
  show(path: string, content: string): void {
    if (this.#shown.get(path)?.content === content) return;
    const isHalf = (_: unknown, file: FileContent) => isUncut(content, file.content);
    const unfinished = new UnfinishedText({ world: this.#world, isWatched: true, isHalf });
    this.#shown.set(path, { content, unfinished });
  }
}
