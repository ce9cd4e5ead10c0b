/**
 * The words of a text, as every search of memories finds them: small, without what people leave out
 * or write in another way, each between two spaces. An index and a query are made by this alone, so
 * that a file, a PostgreSQL and a text that is in neither are searched by the same rules. Another
 * rule here needs a step of both schemas that makes stored words anew, and the next number of
 * `memsync.words` with a trigger that asks for it.
 *
 * A number is a word of its own, also within a name. Scripts that are written without blanks have a
 * word for each character: several in a row are then found as a phrase, wherever they stand.
 *
 * ```
 * spacedWords("Łódź, v2.3.1"); // " lodz v 2 3 1 "
 * spacedWords("日本語のtext"); // " 日 本 語 の text "
 * ```
 */
export function spacedWords(text: string): string {
  const plain = spacedPlainWords(text);
  if (plain !== undefined) return plain;
  const words = folded(text).match(WORD);
  return words === null ? "" : ` ${words.join(" ")} `;
}

/** One word of a query, and what a text must have for it. */
export interface SearchTerm {
  /** Its words, with a space on each side. */
  readonly phrase: string;
  /** Whether the last of them also stands for those that begin with it. */
  readonly isPrefixToo: boolean;
}

/**
 * What a query asks for: one term for each of its words, as they are typed; each once.
 *
 * ```
 * termsOf("use v2"); // [{ phrase: " use ", … }, { phrase: " v 2 ", … }]
 * ```
 */
export function termsOf(query: string): SearchTerm[] {
  const phrases = new Set(query.split(/\s+/u).map(spacedWords));
  phrases.delete("");
  return [...phrases].map((phrase) => ({ phrase, isPrefixToo: !STANDS_FOR_ITSELF.test(phrase) }));
}

/** Characters of a script that has no blanks between its words, or that joins what it has. */
const UNSPACED = `[${["Han", "Hira", "Kana", "Hang", "Bopo", "Yiii", "Thai", "Laoo", "Khmr"]
  .concat(["Mymr", "Lana", "Tale", "Talu"])
  .map((script) => `\\p{Script=${script}}`)
  .join("")}ー]`;
const ALONE = `(?=[\\p{L}\\p{M}\\p{Nl}])${UNSPACED}`;
const JOINED = `(?!${UNSPACED})`;

/** A mark in front of everything belongs to no word. */
const WORD = new RegExp(
  `${ALONE}|\\p{N}+|${JOINED}[\\p{L}\\p{Co}](?:${JOINED}[\\p{L}\\p{M}\\p{Co}])*`,
  "gu",
);

/**
 * A phrase that does not stand for longer words: one letter of an alphabet or one figure, with
 * which too much begins, or one that ends with a character of a script without blanks.
 */
const STANDS_FOR_ITSELF = new RegExp(`^\\s(?:\\p{Script=Latin}|\\p{N})\\s$|${ALONE}\\s$`, "u");

/** Letters that are not an ordinary one with an accent, and what people type for them. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  þ: "th",
  ς: "σ",
};
const OTHER_LETTERS = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu");

/**
 * Marks that people leave out: all of these alphabets, but in the Cyrillic one those of a stress
 * and of ё, for й and ї are other letters.
 */
const LEFT_OUT = new RegExp(
  "(?<=[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Hebrew}\\p{Script=Arabic}])\\p{M}+|" +
    "(?<=[аеиоуыэюяіє])[\\u0300\\u0301]+|(?<=е)[\\u0300\\u0301\\u0308]+",
  "gu",
);

/** What is not seen, or only says how a character looks; ـ draws a word out. */
const UNSEEN = /[\u00ad\u0640\u2060\ufeff]|[\ufe00-\ufe0f]|[\u20d0-\u20ff]|\u200c|\u200d/gu;

function folded(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(UNSEEN, "")
    .normalize("NFD")
    .replace(LEFT_OUT, "")
    .replace(OTHER_LETTERS, (letter) => LETTERS[letter] ?? letter)
    .normalize("NFC");
}

const SPACE = 32;
const NINE = 57;
const ASCII_MAX = 127;
/** Marks a character that is folded to nothing. */
const NOTHING = 1;
const OTHER = 2;

/** By its code, what a character is folded to alone (0 until it is met), and its second letter. */
const PLAIN = new Uint8Array(0x10000);
const SECOND = new Uint8Array(0x10000);

/** A buffer for the words of most texts. */
const ROOM = Buffer.alloc(16 * 1024);

/**
 * `spacedWords` in a fraction of the time, of a text all of whose characters are folded each by
 * itself: to letters and figures of ASCII, to what parts words, or to nothing. Undefined for
 * others.
 */
function spacedPlainWords(text: string): string | undefined {
  const most = text.length * 3 + 1;
  const words = most <= ROOM.length ? ROOM : Buffer.allocUnsafe(most);
  let length = 0;
  let last = SPACE;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const plain = PLAIN[code] || learn(code);
    if (plain === OTHER) return undefined;
    if (plain === NOTHING) continue;
    if (plain !== SPACE) {
      if (last === SPACE || last <= NINE !== plain <= NINE) words[length++] = SPACE;
      words[length++] = plain;
      const second = code > ASCII_MAX ? SECOND[code] : 0;
      if (second) words[length++] = second;
    }
    last = plain;
  }
  if (length === 0) return "";
  words[length++] = SPACE;
  return words.toString("latin1", 0, length);
}

function learn(code: number): number {
  const alone = folded(String.fromCharCode(code));
  PLAIN[code] = plainOf(alone);
  if (PLAIN[code] > SPACE) SECOND[code] = alone.charCodeAt(1);
  return PLAIN[code];
}

function plainOf(alone: string): number {
  if (alone === "") return NOTHING;
  if (/^(?:[a-z]{1,2}|[0-9]{1,2})$/.test(alone)) return alone.charCodeAt(0);
  return /[\p{L}\p{M}\p{N}\p{Co}\p{Cs}]/u.test(alone) ? OTHER : SPACE;
}
