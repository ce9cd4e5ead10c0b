/** HTML names a letter with a mark by both: `&uuml;`, `&Eacute;`. */
const MARKS: Readonly<Record<string, string>> = {
  acute: "\u0301",
  caron: "\u030c",
  cedil: "\u0327",
  circ: "\u0302",
  grave: "\u0300",
  ring: "\u030a",
  tilde: "\u0303",
  uml: "\u0308",
};
/** Letters that are none with a mark, by the whole names that HTML gives them. */
const LETTERS: Readonly<Record<string, string>> = {
  aelig: "æ",
  dstrok: "đ",
  eth: "ð",
  inodot: "ı",
  lstrok: "ł",
  oelig: "œ",
  oslash: "ø",
  szlig: "ß",
  thorn: "þ",
};
const ENTITY =
  /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z])(acute|caron|cedil|circ|grave|ring|tilde|uml)|([a-z]{2,8}));/gi;
const ESCAPE = /\\u(?:\{([\da-f]{1,6})\}|([\da-f]{4}))|\\x([\da-f]{2})|\\[nrt]/gi;
const PERCENT = /(?:%[\da-f]{2})+/gi;

/**
 * A line with the letters that HTML, JSON, a program or a URL writes in another way; signs that are
 * written so become blanks.
 *
 * ```
 * withoutEncodings("M&uuml;ller, M\\u00fcller, M%C3%BCller"); // "Müller, Müller, Müller"
 * ```
 */
export function withoutEncodings(line: string): string {
  if (!/[&\\%]/.test(line)) return line;
  return line
    .replace(PERCENT, (found) => decodedBytes(found))
    .replace(ESCAPE, (_, ...[braced, four, byte]: (string | undefined)[]) => {
      return character(braced ?? four ?? byte, 16);
    })
    .replace(ENTITY, (_, ...parts: (string | undefined)[]) => {
      const [decimal, hex, letter = "", mark = "", name = ""] = parts;
      if (decimal !== undefined) return character(decimal, 10);
      if (hex !== undefined) return character(hex, 16);
      return letter + (MARKS[mark.toLowerCase()] ?? LETTERS[name.toLowerCase()] ?? "");
    });
}

function character(digits: string | undefined, base: number): string {
  const code = digits === undefined ? Number.NaN : Number.parseInt(digits, base);
  return code <= 0x10ffff ? String.fromCodePoint(code) : " ";
}

/** What is no text stays as it is. */
function decodedBytes(found: string): string {
  try {
    return decodeURIComponent(found);
  } catch {
    return found;
  }
}
