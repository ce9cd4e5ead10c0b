import { hash } from "node:crypto";

/** A name of a file is at most this long, with its ending; some systems allow 255 bytes. */
const NAME_CHARS_MAX = 200;

/**
 * Lengths of the hash of a long key, tried in turn. Nobody has a name with the longest by chance.
 */
const HASH_CHARS = [16, 32, 64] as const;

/** What some system does not allow in a name, and the sign that begins a code. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
const FORBIDDEN = /[\u0000-\u001f\u007f<>:"/\\|?*%]/g;
/** Windows takes these for devices, whatever ending they have. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * The names that keys have as files, in a folder of them: the key itself where every system can
 * have such a name, else with characters as `%2F`. No two are the same to a system that knows no
 * upper and lower case. Of a key that is too long it is the beginning, and a hash: only who knows
 * the keys knows whose name that is. `taken`: names that others have.
 *
 * ```
 * portableNames(["build", "a/b"]).get("a/b"); // "a%2Fb"
 * ```
 */
export function portableNames(
  keys: readonly string[],
  taken: readonly string[] = [],
): Map<string, string> {
  const used = new Set(taken.map(folded));
  const names = new Map<string, string>();
  const give = (key: string, ways: readonly string[]) => {
    const name = ways.find((each) => !used.has(folded(each))) ?? firstCoded(key);
    used.add(folded(name));
    names.set(key, name);
  };
  const waysOf = (key: string) => [coded, wholeCoded, firstCoded].map((way) => way(key));
  const isLong = (key: string) => waysOf(key).some((name) => name.length > NAME_CHARS_MAX);
  for (const key of keys) if (!isLong(key)) give(key, waysOf(key));
  // Long keys come last, because only their names may be those that another key has a right to.
  for (const key of keys) if (isLong(key)) give(key, shortened(key));
  return names;
}

function shortened(key: string): string[] {
  const digest = hash("sha256", key);
  return HASH_CHARS.map((length) => {
    const start = coded(key).slice(0, NAME_CHARS_MAX - length - 1);
    return `${start.replace(/%[0-9A-F]?$/, "")}~${digest.slice(0, length)}`;
  });
}

/** The key that a name stands for. A `%` that begins no code is itself. */
export function keyOfPortableName(name: string): string {
  return name.replace(/(?:%[0-9A-F]{2})+/g, (codes) => {
    try {
      return decodeURIComponent(codes);
    } catch {
      return codes;
    }
  });
}

function coded(key: string): string {
  // Systems encode letters beyond ASCII in several ways, and give them back in another one.
  if (!/^[ -~]*$/.test(key)) return wholeCoded(key);
  const safe = key.replace(FORBIDDEN, (char) => codeOf(char));
  const begun = /^[. ]/.test(safe) || DEVICE.test(safe) ? codeFirst(safe) : safe;
  return /[. ]$/.test(begun) ? `${begun.slice(0, -1)}${codeOf(begun.slice(-1))}` : begun;
}

function codeFirst(name: string): string {
  return `${codeOf(name.slice(0, 1))}${name.slice(1)}`;
}

/** With every character coded but small letters, digits and dashes. */
function wholeCoded(key: string): string {
  return [...key].map((char) => (/[a-z0-9_-]/.test(char) ? char : codeOf(char))).join("");
}

/** The same, with the first character as a code, too: for a key whose other names are taken. */
function firstCoded(key: string): string {
  const [first = "", ...rest] = key;
  return `${codeOf(first)}${wholeCoded(rest.join(""))}`;
}

function codeOf(char: string): string {
  return [...new TextEncoder().encode(char)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

function folded(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
