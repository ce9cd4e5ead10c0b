/** A piece of a pattern that stands for one character, or for any number of them. */
type Piece = "star" | ((char: string) => boolean);

/** Whether a name without a slash is meant by `*`, `?`, `[a-z]`, `\` and plain characters. */
export type Glob = readonly Piece[];

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/i,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[a-z]/i,
  xdigit: /[0-9a-f]/i,
};

/**
 * Reads one segment of a pattern, as git does. Upper and lower case are the same, and so are the
 * forms in which systems encode a letter. A bracket that is never closed stands for itself.
 */
export function parseGlob(segment: string): Glob {
  const chars = [...segment.normalize("NFC")];
  const pieces: Piece[] = [];
  for (let at = 0; at < chars.length; ) {
    const char = chars[at] ?? "";
    const bracket = char === "[" ? parseBracket(chars, at) : undefined;
    if (bracket) {
      pieces.push(bracket.piece);
      at = bracket.end;
    } else if (char === "\\" && at + 1 < chars.length) {
      pieces.push(isChar(chars[at + 1] ?? ""));
      at += 2;
    } else {
      if (char === "*") pieces.push("star");
      else pieces.push(char === "?" ? () => true : isChar(char));
      at++;
    }
  }
  return pieces;
}

function isChar(wanted: string): (char: string) => boolean {
  const folded = wanted.toLowerCase();
  return (char) => char.toLowerCase() === folded;
}

/** What stands between brackets; undefined where they are not closed. */
function parseBracket(chars: readonly string[], start: number) {
  let at = start + 1;
  const isNot = chars[at] === "!" || chars[at] === "^";
  if (isNot) at++;
  const tests: ((char: string) => boolean)[] = [];
  for (let isFirst = true; at < chars.length; isFirst = false) {
    if (chars[at] === "]" && !isFirst) {
      const isIn = (char: string) => tests.some((test) => test(char));
      return { piece: (char: string) => isIn(char) !== isNot, end: at + 1 };
    }
    const named = /^\[:([a-z]+):\]/.exec(chars.slice(at, at + LONGEST_CLASS).join(""));
    const known = named && CLASSES[named[1] ?? ""];
    if (named && known) {
      tests.push((char) => known.test(char));
      at += named[0].length;
      continue;
    }
    const [from, next] = oneChar(chars, at);
    at = next;
    if (chars[at] === "-" && at + 1 < chars.length && chars[at + 1] !== "]") {
      const [to, after] = oneChar(chars, at + 1);
      at = after;
      tests.push((char) => isBetween(from, to, char));
    } else tests.push(isChar(from));
  }
  return undefined;
}

const LONGEST_CLASS = "[:xdigit:]".length;

function oneChar(chars: readonly string[], at: number): readonly [char: string, next: number] {
  const isEscaped = chars[at] === "\\" && at + 1 < chars.length;
  return isEscaped ? [chars[at + 1] ?? "", at + 2] : [chars[at] ?? "", at + 1];
}

function isBetween(from: string, to: string, char: string): boolean {
  return [char, char.toLowerCase(), char.toUpperCase()].some((each) => from <= each && each <= to);
}

/** Whether the whole name is meant. */
export function matchesGlob(glob: Glob, name: string): boolean {
  const chars = [...name.normalize("NFC")];
  return matchesStarred(glob, chars, {
    isStar: (piece) => piece === "star",
    isMatch: (piece, char) => piece !== "star" && piece(char),
  });
}

/** What a list of pieces with stars in it is compared by. */
interface Comparison<Part, Item> {
  /** Whether it stands for any number of items. */
  readonly isStar: (part: Part) => boolean;
  readonly isMatch: (part: Part, item: Item) => boolean;
}

/**
 * Whether the parts stand for the items, all of them. Takes at most as many steps as the product of
 * both lengths, whatever the pattern is: it comes from a repository that others write.
 */
export function matchesStarred<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  { isStar, isMatch }: Comparison<Part, Item>,
): boolean {
  let [part, item] = [0, 0];
  /** The last star, and the item at which its part of the items ends. */
  let star: { part: number; item: number } | undefined;
  while (item < items.length) {
    const here = parts[part];
    if (here !== undefined && isStar(here)) {
      star = { part, item };
      part++;
    } else if (here !== undefined && isMatch(here, items[item] as Item)) {
      part++;
      item++;
    } else if (star) {
      star = { part: star.part, item: star.item + 1 };
      part = star.part + 1;
      item = star.item;
    } else return false;
  }
  return parts.slice(part).every(isStar);
}
