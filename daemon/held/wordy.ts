import { isPlaceholder } from "./placeholder.ts";

/** Longer than any number in a name: a port, a year, a small count. */
const DIGITS_MAX = 5;
/** A name's words are longer than the few letters between two changes of case in a token. */
const LENGTH_PER_PART = 4;
/** In names of several words, no longer one is all in capitals. */
const ABBREVIATION_MAX = 4;
/** A name has hardly two shorter words, such as `to` and `of`. */
const SHORT_PART = 3;
const SEPARATORS = /[^A-Za-z0-9]+/;
/** Words in camel case, abbreviations, and numbers. */
const PARTS = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g;
/** What hardly any word has: many consonants or vowels in a row, letters that never meet. */
const UNSPEAKABLE = new RegExp(
  "[^aeiouy]{5}|[aeiou]{4}|q(?!u)|j[^aeiosuwy]|[bcfghkmpqvwz]j|[vxz][bcdfgjkmnqvwxz]|" +
    "[bcdfghjkmpqvwxz]x|[bcfghjkmpqvwx]z",
  "i",
);
/** A command of PowerShell's, which is a verb and what it acts on. */
const CMDLET = /^(?:Convert(?:From|To)|Export|Get|Import|New|Read|Set)-(?:[A-Z]{1,3}[a-z]+){1,4}$/;
/** What the tokens of a service begin with. Words behind it say which token is to stand there. */
const SERVICE = /^(?:gh[oprsu]|github_pat|glpat|hf|npm|xapp|xox[a-z])[-_](?=[A-Za-z]{2,12}[-_])/;
const HEX = /^(?:[\da-f]+|[\dA-F]+)$/;

/**
 * Whether a value of 16 characters or more is made of words, as names are: `db-credentials-v2`,
 * `AUTH_SECRET_1`, `getAccessTokenFor`. What is drawn at random is not: its digits stand anywhere,
 * its case changes with every other letter, and it can't be spoken.
 */
export function isWordy(value: string): boolean {
  if (HEX.test(value)) return false;
  if (CMDLET.test(value)) return true;
  return isOfWords(value) || (SERVICE.test(value) && isOfWords(value.replace(SERVICE, "")));
}

function isOfWords(value: string): boolean {
  const words = value.split(SEPARATORS).filter((word) => word !== "");
  const parts = words.flatMap((word) => word.match(PARTS) ?? []);
  return (
    parts.length <= Math.max(words.length, value.length / LENGTH_PER_PART) &&
    words.every((word) => /^(?:[A-Za-z]+\d*|\d+)$/.test(word)) &&
    parts.every((part) => (/\d/.test(part) ? part.length <= DIGITS_MAX : !isUnspeakable(part))) &&
    isOfOneStyle(value, parts)
  );
}

/** Whether no word is spelt so. `passphrase` is, with its five consonants in a row. */
export function isUnspeakable(part: string): boolean {
  return UNSPEAKABLE.test(part) && part.toLowerCase() !== "passphrase";
}

/** Whether the words are joined in one way: by separators, or by their first letters' case. */
function isOfOneStyle(value: string, parts: readonly string[]): boolean {
  const capitals = parts.filter((part) => /^[A-Z]{2,}$/.test(part));
  if (!/[a-z]/.test(value)) return true;
  if (capitals.some(({ length }) => length > ABBREVIATION_MAX)) return false;
  const isSeparated = SEPARATORS.test(value.slice(1, -1));
  const capitalized = parts.filter((part) => /^[A-Z][a-z]/.test(part)).length;
  if (isSeparated) return capitals.length + capitalized === 0;
  const short = parts.filter(({ length }) => length < SHORT_PART);
  return capitals.length <= 1 && short.length <= 1;
}

/** Words that are short enough to stand by chance within what is drawn at random. */
const BY_CHANCE = /(?<=[A-Za-z\d])(?:fake|todo|your|x{4}|_{4})(?=[A-Za-z\d])/gi;
const REST_LENGTH_MIN = 12;

/** Whether a value only stands for a secret, and not just because a random one spells a word. */
export function standsForSecret(value: string): boolean {
  if (!isPlaceholder(value)) return false;
  const rest = value.replace(BY_CHANCE, "");
  const isByChance = rest.length >= REST_LENGTH_MIN && rest !== value;
  return !isByChance || isPlaceholder(rest) || isWordy(rest);
}
