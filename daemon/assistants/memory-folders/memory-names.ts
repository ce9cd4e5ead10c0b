import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { FolderFormat } from "../folders/folder-format.ts";

const PART_BYTES_MAX = 255;

/**
 * What some system does not allow in a file's name: controls, separators, Windows' own, and what
 * stands for bytes that are no text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
const FORBIDDEN = /[\u0000-\u001f\u007f\ufffd<>:"/\\|?*]/;
/** Windows takes these for devices, whatever extension they have. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * Whether every system can have a file of this name: a key comes from other machines, and must
 * never lead out of the folder, and a file must be the same one everywhere.
 */
export function isMemoryName(format: FolderFormat, name: string): boolean {
  const parts = format.isDeep ? name.split("/") : [name];
  const stem = name.slice(0, -format.ending.length);
  const last = stem.slice(stem.lastIndexOf("/") + 1);
  return (
    name.endsWith(format.ending) &&
    /\S/.test(last) &&
    !/[ .]$/.test(stem) &&
    parts.every(isName) &&
    name.isWellFormed() &&
    name === name.normalize("NFC") &&
    !exceedsBytes(keyOfName(format, name), LIMITS.memoryKeyBytes)
  );
}

/** Of a file or of a folder. */
function isName(part: string): boolean {
  return (
    !part.startsWith(".") &&
    !/^\s*$|[ .]$/.test(part) &&
    !FORBIDDEN.test(part) &&
    !DEVICE.test(part) &&
    !exceedsBytes(part, PART_BYTES_MAX)
  );
}

/** The key of the memory that a file is. */
export function keyOfName({ prefix }: FolderFormat, name: string): string {
  return prefix + name;
}

/** The file that a memory is; undefined for any other memory. The name may be none. */
export function nameOfKey({ prefix }: FolderFormat, key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

/**
 * The names that files have taken in a folder, with those of the folders that lead to them. Some
 * systems take names for the same that differ in upper and lower case or in how they are encoded.
 */
export class TakenNames {
  readonly #taken = new Map<string, string>();

  constructor(names: Iterable<string>) {
    for (const name of names) this.take(name);
  }

  /** The name that some system takes for this one, or for a folder on the way to it. */
  clashOf(name: string): string | undefined {
    for (const step of stepsTo(name)) {
      const other = this.#taken.get(folded(step));
      if (other !== undefined && other !== step) return other.replace(/\/$/, "");
    }
    return undefined;
  }

  take(name: string): void {
    for (const step of stepsTo(name)) {
      if (!this.#taken.has(folded(step))) this.#taken.set(folded(step), step);
    }
  }
}

/** Of these names each that some system takes for one before it in order, with that one. */
export function clashesAmong(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new TakenNames([]);
  const clashes = new Map<string, string>();
  for (const name of [...names].sort()) {
    const other = taken.clashOf(name);
    if (other !== undefined) clashes.set(name, other);
    taken.take(name);
  }
  return clashes;
}

/** A folder's step ends in a slash, so it is never the same as a file. */
function stepsTo(name: string): string[] {
  const parts = name.split("/");
  return parts.map((_, at) => {
    const step = parts.slice(0, at + 1).join("/");
    return at + 1 < parts.length ? `${step}/` : step;
  });
}

/** Equal for a file and a folder of one name, too. */
function folded(step: string): string {
  return step.replace(/\/$/, "").normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
