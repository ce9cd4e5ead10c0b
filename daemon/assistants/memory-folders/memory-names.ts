import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";

/** Keys of memories that are files of an assistant's memory folder begin with it. */
const PREFIX = "auto-memory/";
const NAME_BYTES_MAX = 255;
const EXTENSION = ".md";

/** What some system does not allow in a file's name: controls, separators, Windows' own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
const FORBIDDEN = /[\u0000-\u001f\u007f<>:"/\\|?*]/;
/** Windows takes these for devices, whatever extension they have. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/** The index of a memory folder. */
export const INDEX_NAME = "MEMORY.md";

/**
 * Whether every system can have a file of this name: a key comes from other machines, and must
 * never lead out of the folder, and a file must be the same one everywhere.
 */
export function isMemoryName(name: string): boolean {
  const stem = name.slice(0, -EXTENSION.length);
  return (
    name.endsWith(EXTENSION) &&
    /\S/.test(stem) &&
    !name.startsWith(".") &&
    !/[ .]$/.test(stem) &&
    !FORBIDDEN.test(name) &&
    !DEVICE.test(name) &&
    name.isWellFormed() &&
    name === name.normalize("NFC") &&
    !exceedsBytes(name, NAME_BYTES_MAX) &&
    !exceedsBytes(keyOfName(name), LIMITS.memoryKeyBytes)
  );
}

/** The key of the memory that a file is. */
export function keyOfName(name: string): string {
  return PREFIX + name;
}

/** The file that a memory is; undefined for any other memory. The name may be none. */
export function nameOfKey(key: string): string | undefined {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
}

/** Equal for names that some system takes for the same. */
export function foldedName(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
