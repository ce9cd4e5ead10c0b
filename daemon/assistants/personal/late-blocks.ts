import type { FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { ABSENT_HASH, hashOf, readFileAt } from "../../disk/read-file.ts";
import { replaceFile } from "../../disk/write-file.ts";
import { LateSaves } from "../../files/saves/late-saves.ts";
import type { FileContent } from "../../files/state/file-edit.ts";

/** A file whose name a write took. */
interface ReplacedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Finds saves into files that were replaced; see `LateSaves`. What was saved there goes where it
 * was meant to go, and is then read like any other save.
 */
export class LateBlocks {
  readonly #world: World;
  readonly #look: () => void;
  readonly #saves = new Map<string, { readonly saves: LateSaves; after: string }>();

  /** `look` is called when there may be a save to take. */
  constructor(world: World, look: () => void) {
    this.#world = world;
    this.#look = look;
  }

  /** Keeps a replaced file open for a while. */
  async add(handle: FileHandle, { path, before, after }: ReplacedFile): Promise<void> {
    const saves = this.#saves.get(path)?.saves ?? new LateSaves(this.#world, this.#look);
    this.#saves.set(path, { saves, after });
    await saves.add(handle, fileStateOf(before));
  }

  /** Puts what was saved since into the files. */
  async take({ isLast = false } = {}): Promise<void> {
    for (const [path, { saves }] of this.#saves) {
      const take = async (_: unknown, { content }: FileContent) => {
        await this.put(path, content, this.#saves.get(path)?.after);
        return fileStateOf(content);
      };
      await saves.take(take, { isLast });
    }
  }

  /**
   * Puts a late save into its file, if that is still as it was written: `after`. Where somebody
   * else saved it meanwhile, it comes beside it.
   */
  async put(path: string, content: string, after: string | undefined): Promise<void> {
    const world = this.#world;
    const known = this.#saves.get(path);
    const read = await readFileAt(dirname(path), basename(path));
    if (read.kind === "text" && read.content === after) {
      const outcome = await replaceFile(path, content, { expectedHash: read.hash, world });
      if (outcome.kind === "written") {
        await outcome.replaced?.close();
        if (known) this.#saves.set(path, { ...known, after: content });
        return;
      }
    }
    if (read.kind === "text" && read.content === content) return;
    for (let number = 1; ; number++) {
      const beside = `${path}.late-${number}`;
      const there = await readFileAt(dirname(beside), basename(beside));
      if (there.kind === "text" && there.content === content) return;
      if (there.kind !== "absent") continue;
      const outcome = await replaceFile(beside, content, { expectedHash: ABSENT_HASH, world });
      if (outcome.kind === "written") return;
    }
  }

  /** Saves into replaced files are nowhere else. */
  async close(): Promise<void> {
    await this.take({ isLast: true });
    for (const { saves } of this.#saves.values()) await saves.close();
  }
}

/** A file of its own, which is in no document. */
export function fileStateOf(content: string) {
  const { form, lines } = splitForm(content);
  return { hash: hashOf(content), base: { text: lines, spans: [] }, form };
}
