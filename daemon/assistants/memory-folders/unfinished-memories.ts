import { splitForm } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { isUnfinished, UNFINISHED_MS } from "../../files/unfinished.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import type { MemoryText } from "./take-memory-edit.ts";

/** A file that is empty for this long is asked about. */
const EMPTIED_MS = 10_000;

/** Measures how long texts that may be half written have stood, by the path of their file. */
export class UnfinishedMemories {
  readonly #world: Pick<World, "monotonic">;
  readonly #seen = new Map<string, { readonly hash: string; readonly at: number }>();
  /** Since when a file is empty, by the steady clock. */
  readonly #emptied = new Map<string, number>();

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /**
   * Whether somebody emptied a file a moment ago: most programs that write a text anew begin so.
   * Not where it is asked about already.
   */
  isJustEmptied(path: string, former: MemoryFile | undefined, file?: MemoryText): boolean {
    const isEmptied = file?.content.trim() === "" && former && former.text.trim() !== "";
    if (!isEmptied || former.asked) {
      this.#emptied.delete(path);
      return false;
    }
    const now = this.#world.monotonic();
    const since = this.#emptied.get(path) ?? now;
    this.#emptied.set(path, since);
    return now - since < EMPTIED_MS;
  }

  /** Whether a text is not to be taken yet. By the rule for followed files; see `isUnfinished`. */
  isUnfinished(path: string, former: MemoryFile | undefined, file: MemoryText): boolean {
    if (file.hash === former?.hash || !isUnfinished(former && stateOf(former), file)) {
      this.#seen.delete(path);
      return false;
    }
    const now = this.#world.monotonic();
    const { hash, at } = this.#seen.get(path) ?? { hash: "", at: now };
    const since = hash === file.hash ? at : now;
    this.#seen.set(path, { hash: file.hash, at: since });
    return now - since < UNFINISHED_MS;
  }
}

/** A memory has no characters of a document. */
function stateOf({ hash, text }: MemoryFile) {
  const { form, lines } = splitForm(text);
  return { hash, base: { text: lines, spans: [] }, form };
}
