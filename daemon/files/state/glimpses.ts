import { type FileRead, readFileAt } from "../../disk/read-file.ts";
import type { FileContent } from "./file-edit.ts";

/** At most this many texts are kept until the next look, the latest ones. */
const GLIMPSES_MAX = 20;

/** At most this many texts are known again. */
const KNOWN_MAX = 20;

type Found = (text: FileContent) => Promise<void>;

/**
 * The texts that a file had when an event came. A look waits for the one before, asks git and waits
 * for the replica, and by then an assistant may have saved twice: what was there in between would
 * be in no history.
 */
export class Glimpses {
  readonly #dir: string;
  readonly #found: Found;
  #texts: FileContent[] = [];
  #known: string[] = [];
  #reading: Promise<void> | undefined;
  #isWanted = false;

  /** `found` is told of each text before anybody else is, and may keep it. */
  constructor(dir: string, found: Found = async () => undefined) {
    this.#dir = dir;
    this.#found = found;
  }

  /** Texts that were kept by a process before this one. */
  restore(texts: readonly FileContent[]): void {
    this.#texts = [...texts, ...this.#texts].slice(-GLIMPSES_MAX);
  }

  /** Reads the file now, or right after the reading that is under way. */
  glimpse(path: string): void {
    this.#isWanted = true;
    this.#reading ??= this.#readWhileWanted(path).finally(() => {
      this.#reading = undefined;
    });
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    while (this.#reading) await this.#reading;
  }

  /** The daemon has written this into the file, or taken it: it is no save that was missed. */
  markKnown(hash: string): void {
    if (!this.#known.includes(hash)) this.#known = [...this.#known, hash].slice(-KNOWN_MAX);
  }

  /** What was there until now, oldest first. */
  async seen(): Promise<readonly FileContent[]> {
    await this.settled();
    return this.#texts;
  }

  /** The hashes of texts that are not forgotten yet. */
  get waiting(): readonly string[] {
    return this.#texts.map(({ hash }) => hash);
  }

  /** Forgets what is known by now. Gives those of `seen` that nobody knows. */
  dropKnown(seen: readonly FileContent[]): readonly FileContent[] {
    const isMissed = ({ hash }: FileContent) => !this.#known.includes(hash);
    this.#texts = this.#texts.filter(isMissed);
    return seen.filter(isMissed);
  }

  /** These are in the history. */
  forget(texts: readonly FileContent[]): void {
    this.#texts = this.#texts.filter((each) => !texts.includes(each));
  }

  async #readWhileWanted(path: string): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      const read = await readTwice(this.#dir, path);
      if (read.kind !== "text" || read.content.trim() === "") continue;
      const { content, hash, savedAt } = read;
      if (this.#texts.at(-1)?.hash === hash) continue;
      const found = { content, hash, savedAt };
      this.#texts = [...this.#texts, found].slice(-GLIMPSES_MAX);
      await this.#found(found);
    }
  }
}

/** Programs write a file in steps. A file that changes between two reads counts as absent. */
export async function readTwice(dir: string, path: string): Promise<FileRead> {
  const [first, second] = [await readFileAt(dir, path), await readFileAt(dir, path)];
  const isSame = first.kind === "text" && second.kind === "text" && first.hash === second.hash;
  return isSame ? first : { kind: "absent", path };
}
