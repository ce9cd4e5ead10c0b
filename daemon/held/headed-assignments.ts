import { isSpelt } from "./letter-pairs.ts";
import type { TableAssignment } from "./table-assignments.ts";
import { isUnspeakable } from "./wordy.ts";

/**
 * Keys that are for everybody, change with each request, or are no secret's at all: by the word
 * right before. Elsewhere in a name the word says nothing: `API keys for the next release`.
 */
const OTHER_KEYS = new RegExp(
  "(?<![a-z])(?:cache|continuation|csrf|cursor|design|foreign|gpg|host|idempotency|lock|next|" +
    "page|partition|pgp|primary|pub(?:lic|lishable)?(?:[ _-]api)?|release|sort|sync|xsrf)[ _-]?" +
    "(?:keys?|tokens?)(?![a-z])",
  "gi",
);
/** A key's own name in a section of keys. */
const PUBLIC = /(?<![a-z])pub(?:lic|lishable)?(?![a-z])/i;

/** Words that stand behind their name, or before what it is for: `Clés`, `Schlüssel der API`. */
const KEYS =
  "(?:api[ _-]?)?schl(?:ü|ue)ssel|jetons?|cl(?:é|e)s?|claves?|llaves?|chaves?|chiav[ei]|" +
  "sleutels?|zugangsdaten|zugangs(?:schl(?:ü|ue)ssel|token)|geheimnisse?|identifiants|" +
  "credenciales|credenciais|credenziali|segret[io]|secretos?|segredos?|geheimen|credentials?|" +
  "creds|secrets?";
/** In English a word behind makes something else of it: `Key findings`, `Token usage`. */
const ENGLISH_KEYS = "(?:[a-z]+[ _-])?(?:keys?|tokens?)";
const BEHIND =
  "(?=[*_`]{0,2}[ \\t]{0,5}(?:$|[,;:.!?()\\[\\]/|&+–—-]|" +
  "(?:for|of|on|to|in|at|from|by|used|and|we|und|für)\\b))";
const NAME = new RegExp(
  `(?<![\\p{L}\\d])(?:(?:${KEYS})(?![\\p{L}\\d])|(?:${ENGLISH_KEYS})(?![\\p{L}\\d])${BEHIND}|` +
    "(?:access|admin|api|app|auth|bot|client|deploy|secret|service|signing)[ _-](?:key|token)s?)",
  "iu",
);
/** In languages that part no words, or bend them; `令牌桶` is an algorithm's. */
const FAR_NAME =
  /密[钥鑰]|金鑰|令牌(?![桶数數用使])|[凭憑][证證据據]|(?:API|アクセス|シークレット|秘密) ?キー|(?:アクセス|API) ?トークン|秘密鍵|認証情報|(?<!\p{L})(?:ключ(?:и|ей|а)?|токен(?:ы|ов|а)?|секрет(?:ы|ов)?)(?!\p{L})/iu;
const ANY_NAME = new RegExp(
  "schl(?:ü|ue)ssel|jeton|cl[ée]|clave|llave|chave|chiav|sleutel|key|token|[cs]e[cg]r|cred|" +
    "zugang|gehei|identif|密[钥鑰]|金鑰|令牌|[凭憑][证證据據]|キー|トークン|秘密鍵|認証情報|" +
    "ключ|токен|секрет",
  "i",
);

/**
 * A heading, a line that announces something, or a name with its value is no longer. The patterns
 * below are for such lines, whose blanks are single spaces: in any line they could take for ever.
 */
const SHAPED_LENGTH_MAX = 800;

const HEADING = /^[ >]{0,10}(#{1,6}) (.{1,200}?)[ #]*$/;
const ELEMENT = /^[ >]{0,10}<h([1-6])(?: [^<>]{0,200})?>([^<>]{1,200})<\/h[1-6]>$/i;
/** A line in bold alone, and one that says by a colon that something follows. */
const BOLD = /^[ >]{0,10}(?:\*\*|__)([^*_]{1,120})(?:\*\*|__):?$/;
const ITEM = "^[ >]{0,20}(?:[-+*•]|\\d{1,3}[.)])? ?";
const ANNOUNCED = new RegExp(`${ITEM}(.{1,120}?)["*_]{0,2}[:：][*_]{0,2} ?[{[]?$`);
/** A line of a list, or of a file of settings, with its value at the end. */
const NAMED_VALUE = new RegExp(
  `${ITEM}(.{1,100}?)[*_\`]{0,3} ?(?:[:：]|=|→|->|=>| [-–—] )[*_]{0,2} ?` +
    "[\"'`]?([\\w+/.~-]{16,512}={0,2})[\"'`]?[*_]{0,2}[.,;]?$",
);
/** What may be a key, whatever stands around it in a section of keys. */
const VALUES = /(?<![\w+/.~:@$%-])[\w+/.~-]{16,512}={0,2}(?![\w+/=(\\:@-])/g;
/** How far what a line announces may be from it. */
const ANNOUNCED_LINES = 20;

/**
 * What the sections and the lists of a text assign to a name of a key: each value below a heading,
 * or a line with a colon at its end, that names keys, and what stands behind such a name in a list.
 * The rules decide whether it is a secret.
 *
 * ```
 * headedAssignments("## API keys\n- prod: zx9kt44plmq2vb7w…");
 * // [{ text: "API key: zx9kt44plmq2vb7w…", line: 1 }]
 * ```
 */
export function headedAssignments(text: string): TableAssignment[] {
  if (!ANY_NAME.test(text)) return [];
  const found: TableAssignment[] = [];
  /** The levels of the headings in force that name a key. */
  let levels: number[] = [];
  let announcedUntil = -1;
  const rows = text.split("\n").map((row) => row.replace(/[ \t]+/g, " ").trimEnd());
  for (const [line, each] of rows.entries()) {
    const isShaped = each.length <= SHAPED_LENGTH_MAX;
    const heading = isShaped ? headingOf(each, rows[line + 1]) : undefined;
    if (heading) {
      levels = levels.filter((level) => level < heading.level);
      if (namesKey(heading.text)) levels.push(heading.level);
      announcedUntil = -1;
      continue;
    }
    const [, announced] = (isShaped && ANNOUNCED.exec(each)) || [];
    if (announced !== undefined && namesKey(announced)) {
      announcedUntil = line + ANNOUNCED_LINES;
      continue;
    }
    const isBelowName = levels.length > 0 || line <= announcedUntil;
    const values = isBelowName ? valuesIn(each) : isShaped ? namedValueOf(each) : [];
    for (const value of values) {
      found.push({ text: `API key: ${value}`, line });
    }
  }
  return found;
}

/** A line in bold is a heading below all others. */
function headingOf(
  line: string,
  below = "",
): { readonly level: number; readonly text: string } | undefined {
  const [, signs, text] = HEADING.exec(line) ?? [];
  if (signs !== undefined && text !== undefined) return { level: signs.length, text };
  const [, level, title] = ELEMENT.exec(line) ?? [];
  if (level !== undefined && title !== undefined) return { level: Number(level), text: title };
  const [underline] = /^(?:={3,}|-{3,})$/.exec(below) ?? [];
  const isUnderlined = underline !== undefined && /^[^\s|>-].{0,120}$/.test(line);
  if (isUnderlined) return { level: underline.startsWith("=") ? 1 : 2, text: line };
  const [, bold] = BOLD.exec(line) ?? [];
  return bold === undefined ? undefined : { level: 7, text: bold };
}

/** Whether a heading, or what a text is kept by, names keys, tokens or other secrets. */
export function namesKey(name: string): boolean {
  const own = name.replace(/["*_`]+$/, "").replace(OTHER_KEYS, "");
  return NAME.test(own) || FAR_NAME.test(own);
}

/** What may be a key in a line of a section of keys. A name in the line may say that it is none. */
function valuesIn(line: string): readonly string[] {
  if (PUBLIC.test(line) || line.search(OTHER_KEYS) !== -1) return [];
  return [...line.matchAll(VALUES)].flatMap(({ 0: found, index }) => {
    const value = found.replace(/\.+$/, "");
    const before = line.slice(Math.max(0, index - ABOUT_LENGTH_MAX), index);
    if (!mayBeKey(value) || ABOUT_ONE.test(before)) return [];
    if (!ID.test(value)) return [value];
    // A line may have thousands of them.
    const end = index + found.length;
    const near = line.slice(Math.max(0, index - SENTENCE_LENGTH_MAX), index);
    return isInSentence(near, line.slice(end, end + SENTENCE_LENGTH_MAX)) ? [] : [value];
  });
}

/**
 * In a sentence it is anything's id, unless it is called a key or has a name before it. A
 * table's cell and a few words of a list are its name.
 */
function isInSentence(before: string, behind: string): boolean {
  if (CALLED_KEY.test(before)) return false;
  const around = `${before.split("|").at(-1)} ${behind.split("|")[0]}`;
  return (around.match(/\p{L}{2,}/gu) ?? []).length >= SENTENCE_WORDS_MIN;
}

function namedValueOf(line: string): readonly string[] {
  const [, name = "", value = ""] = NAMED_VALUE.exec(line) ?? [];
  return name !== "" && mayBeKey(value) && namesKey(name) ? [value] : [];
}

/** What a value is that is no key, by its name before it: `KeyId: …`, `sha256=…`. */
const ABOUT_ONE =
  /(?:arn|challenge|commit|digest|fingerprint|hash|ids?|sha\d*|sum|time|version)["'`]?[*_]{0,2} ?[:=]? ?["'`]?$/i;
const ABOUT_LENGTH_MAX = 30;

/** A path, a file's name, a fingerprint as GnuPG prints one, a time, and what all may see. */
const NO_KEY =
  /^[.~/]|\.[A-Za-z]{1,5}$|(?:^|\/)[a-z]{4,}(?:[-_][a-z]+)*\/|^[\dA-F]{40}$|^\d{8}T\d{6}Z?$|^AAAA[A-Z]3Nza|^age1|^0x[\da-fA-F]{40}$/;

/** What is a commit's, a text's or any thing's id more often than it is a key. */
const ID = /^(?:[\da-f]{40}|[\da-f]{64}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;
const SENTENCE_WORDS_MIN = 4;
const SENTENCE_LENGTH_MAX = 200;
const CALLED_KEY = /(?:(?:key|secret|token)s? (?:is|was|are|were)|[:=→]) ?["'`*_]{0,3}$/i;

/** Beside words, as in `acme-prod-4f2a9c1b`, a shorter part tells things apart and opens none. */
const PART_BESIDE_WORDS_MIN = 10;

/** One part of a key has letters and digits mixed as no term has: `sha256`, `poly1305`. */
function mayBeKey(value: string): boolean {
  if (NO_KEY.test(value)) return false;
  const parts = value.split(/[-_./+~]/);
  const hasWords = !/[A-Z]/.test(value) && parts.some((part) => /^[a-z]{3,}$/.test(part));
  return parts.some((part) => {
    const isMixed = /\d/.test(part) && /[a-z]/i.test(part);
    return part.length >= (hasWords ? PART_BESIDE_WORDS_MIN : 8) && isMixed && !isOfTerms(part);
  });
}

/** A version is one (`V2`), and so is a word in camel case, an abbreviation or a number. */
const RUNS = /[vV]\d{1,2}(?!\d)|[A-Z]?[a-z]+(?<!v(?=\d))|[A-Z]+(?![a-z])|\d+/g;

/** What is drawn at random changes between letters and digits more often. */
const LENGTH_PER_RUN = 3;

/** Whether words and numbers take turns, as in `postgres16alpine3` and `oauth2ClientV2`. */
function isOfTerms(part: string): boolean {
  const runs = part.match(RUNS) ?? [];
  const words = runs.filter((run) => !/\d/.test(run));
  const short = words.filter(({ length }) => length < 3);
  const isSpoken = words.every((word) => !isUnspeakable(word)) && isSpelt(words);
  const isHex = /^[\da-f]+$/i.test(part);
  return isSpoken && !isHex && short.length <= 1 && runs.length <= part.length / LENGTH_PER_RUN;
}
