import { isUsualInTexts } from "./password.ts";
import { PASSWORD_KEYWORDS, PASSWORD_NAMES } from "./password-names.ts";
import { isPlaceholder } from "./placeholder.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";

/**
 * A whole line `password: word`, as people keep it in a note. In a sentence a word can't be told
 * from what is said about passwords.
 */
const LINE = new RegExp(
  "(?<=^|\\n)[ \\t]{0,20}(?:[-*+>#]{1,3}[ \\t]{1,4}|\\d{1,3}[.)][ \\t]{1,4})?[*_`]{0,3}" +
    `(?:[a-z][a-z0-9\\x20./_-]{0,40}[\\x20./_-])?(?:${PASSWORD_NAMES})[*_\`]{0,3}` +
    "[ \\t]{0,10}[:=][*_]{0,3}[ \\t]{1,10}[*_\"'`]{0,3}" +
    "([^\\s\"'`*_<>(){}[\\],;|]{4,40})[*_\"'`]{0,3}[.!]?[ \\t]{0,10}" +
    "(?:(?<=[ \\t])(?:#|//)[^\\r\\n]{0,100})?(?=\\r?\\n|$)",
  "gi",
);

/** Rules for passwords that are a plain word. */
export const PLAIN_PASSWORD_RULES: readonly SecretRule[] = [
  {
    id: "plain-password",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    pattern: LINE,
    needsLine: true,
    accepts: (found) => isPlainPassword(found),
  },
];

/** One word in small letters, or with a capital one at its beginning: no name of a type. */
const PLAIN = /^\p{L}\p{Ll}{3,}$/u;
/** What is said of passwords ends like these: `encrypted`, `configurable`, `manually`. */
const SAID_OF_ONE = /(?:[^aeiou]ed|[ai]ble|ally|ely|less|ored|ated)$/i;

/** A row of keys is no word of a guide's, as `letmein` is: whoever notes it down uses it. */
const TYPED = /^qwert[yz]\d{0,3}$/i;

function isUnusualWord(word: string): boolean {
  return PLAIN.test(word) && !SAID_OF_ONE.test(word) && !isUsualInTexts(word);
}

const PHRASE = /^[a-z]{4,12}(?:-[a-z]{4,12}){2}$/;

/**
 * Three joined words, as in `correct-horse-battery`; in a sentence, or with one that is said of
 * passwords, such words are a name.
 */
function isUnusualPhrase(value: string): boolean {
  return PHRASE.test(value) && value.split("-").every(isUnusualWord);
}

function isPlainPassword({ secret, match, text, at }: FoundSecret): boolean {
  const word = secret.replace(/[.!?:]+$/, "");
  if (!isUnusualWord(word) && !isUnusualPhrase(word) && !TYPED.test(word)) return false;
  if (isPlaceholder(word) || isShouted(match)) return false;
  if (isOtherMeaning(word, match)) return false;
  return !isNearby(word, text, { from: at, to: at + match.length });
}

/** `DB_PASSWORD: shop` is a setting of an example. A strong password is found there, too. */
function isShouted(match: string): boolean {
  return /[A-Z]_(?:[A-Z]+)[*_`]*[ \t]*[:=]/.test(match);
}

/** `pw: Playwright` explains an abbreviation, and `pwd` is a folder, too. */
function isOtherMeaning(word: string, match: string): boolean {
  if (!/(?<![a-z])pwd?[*_`]{0,3}[ \t]{0,10}[:=]/i.test(match)) return false;
  return OTHER_MEANINGS.test(word);
}

const OTHER_MEANINGS =
  /^(?:playwright|director(?:y|ies)|folder|home|monorepo|packages?|project|repo(?:sitory)?|workspaces?)$/i;

const NEARBY = 300;

/** The password of a local service is the user's name, or the database's, which stand beside it. */
function isNearby(
  word: string,
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  const around = text.slice(Math.max(0, from - NEARBY), from) + text.slice(to, to + NEARBY);
  return around.toLowerCase().includes(word.toLowerCase());
}
