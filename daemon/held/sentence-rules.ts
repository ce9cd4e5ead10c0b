import { isRandom } from "./assigned-rules.ts";
import { isMixedPassword, isPassphrase, isStrongPassword } from "./password.ts";
import { PASSWORD_KEYWORDS, PASSWORD_NAMES, PASSWORD_VALUE } from "./password-names.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";

/** Says of a password what it is, in the languages whose word for it we know. */
const IS = "(?:is|was|ist|war|lautet|est|es|è|é)(?=[\\s:])";

/** Begins what the password is for: `for prod`, `of ann's account`, `für die Datenbank`. */
export const FOR =
  "for|of|on|to|in|at|from|für|von|vom|zu|zum|zur|im|am|des|der|pour|de|du|sur|del|para|da|do|di|" +
  "per|van|voor";
const WHAT_FOR =
  `(?:[ \\t]{1,3}\\([^()\\n]{1,60}\\)|[ \\t]{1,3}(?:${FOR})` +
  `(?:[ \\t]{1,3}(?!${IS})(?:[^\\s:=,;]|:(?=\\S)){1,40}(?<![.!?])){1,8}?)`;

const QUOTE = "[\"'`]?[*_]{0,2}";
const NAME = `(?<![a-z])(?:${PASSWORD_NAMES})${QUOTE}`;
const GIVEN =
  `(?:${WHAT_FOR}${QUOTE}[ \\t]{0,5}[:=]|` +
  `${WHAT_FOR}?[ \\t]{1,3}(?:(?:→|->|[-–—])[ \\t]|` +
  `${IS}(?:[ \\t]{1,3}(?:now|still|jetzt|(?:changed|reset|set) to)(?=[\\s:]))?[ \\t]{0,3}:?))`;
/** In place of a verb behind the name, a word before it. */
const WITH = "\\b(?:with|use|using|mit|avec|con|com|met)[ \\t](?:(?:the|dem|le|la|het)[ \\t])?";

/** The name behind its password, with a few words before it: `is the staging password`. */
const WORDS_BEFORE = "(?:(?!no[tn]?[ \\t])[\\p{L}'-]{1,20}[ \\t]{1,3}){0,3}";
const SAID_OF_IT = `${QUOTE}[ \\t]{1,3}(?:${IS}|as|als|como|comme|come)[ \\t]{1,3}`;
const ADDED_TO_IT = `${QUOTE}[ \\t]{1,3}(?:\\(|(?:←|<-|[-–—])[ \\t])`;
/** Of a longer name, such as `password manager`, the word is only a part. */
const NAME_BEHIND =
  `${WORDS_BEFORE}(?<!\\p{L})(?:${PASSWORD_NAMES})${QUOTE}` +
  `(?=[.,:;!?)]|[ \\t]{0,20}(?:\\r?\\n|$)|[ \\t]{1,3}(?:${FOR})[ \\t])`;
const FIRST = "(?<=^|[\\s(\"'`*_])(?![*_])([^\\s\"'`<>(){}[\\],;|]{6,128})";

export const KEYS_OF_API =
  "(?:access|admin|api|auth|bot|client|deploy|secret|service|signing)[ _-](?:key|token|secret)|" +
  "token|secret|API[ -]?Schl(?:ü|ue)ssel|Zug(?:angs|riffs)[ -]?(?:schl(?:ü|ue)ssel|token)|" +
  "cl(?:é|e) (?:d['’])?API|(?:clave|chave) (?:de )?(?:la )?API|chiave API|API[ -]?sleutel";

/** Quotes of code, or the beginning of a block of it. */
const FENCE = "[ \\t]{0,20}(?:```|~~~)\\w{0,20}[ \\t]{0,20}\\r?\\n";
const LINE_END = "[ \\t]{0,20}\\r?\\n";

/** How a secret is written down in a note: in a sentence, or beside the name of its user. */
export const SENTENCE_RULES: readonly SecretRule[] = [
  {
    id: "key-in-sentence",
    kind: "an API key or a token",
    keywords: ["key", "token", "secret"],
    pattern:
      /\b(?:(?:access|admin|api|auth|bot|deploy|secret|service|signing)[ _-](?:key|token)|token|secret)\b["'`*_]{0,3}[^\n.:=]{0,40}?[ \t](?:is|was)[ \t:]{1,3}["'`*_]{0,3}([\w+/-]{20,512}={0,2})(?![\w+/=([\\-]|[.:]\w)/gi,
    accepts: ({ secret }) => /\d/.test(secret) && isRandom(secret),
  },
  {
    id: "key-of-something",
    kind: "an API key or a token",
    keywords: ["key", "token", "secret", "api"],
    // `API key (prod): …`, and in other languages.
    pattern: new RegExp(
      "(?<![\\p{L}_-]|\\b(?:csrf|cursor|next|page|public|sync|xsrf) )" +
        `(?:${KEYS_OF_API})["'\`*_]{0,3}` +
        `(?:[ \\t](?:\\([^()\\n]{1,60}\\)|(?:${FOR})[ \\t][^\\n.:=]{1,40}))?["'\`*_]{0,3}` +
        "[ \\t]{0,3}[:=][ \\t*_]{0,5}[\"'`]?" +
        "([\\w+/-]{20,512}={0,2})(?![\\w+/=([\\\\-]|[.:]\\w|[.]{2}|…)",
      "giu",
    ),
    accepts: ({ secret }) => /\d/.test(secret) && isRandom(secret),
  },
  {
    id: "password-of-user",
    kind: "a password",
    keywords: ["user", "login", "account", "cred"],
    pattern:
      /\b(?:user(?:name)?|login|account|cred(?:ential)?s?)\b["'`*_]{0,3}(?:[ \t]?\/[ \t]?(?:pass(?:word)?|pwd?)\b["'`*_]{0,3}[ \t]{0,3}[:=][*_]{0,2}[ \t]{0,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{0,3}[/:][ \t]{0,3}|[ \t]{0,3}[:=][ \t]{0,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{1,3}\/[ \t]{1,3}|[ \t:=]{1,3}["'`]?[\w.@+-]{1,80}["'`]?[ \t]{0,3}[,;]?[ \t]{1,3}(?:(?:and|with)[ \t]{1,3})?(?:pass(?:word)?|pwd?)[ \t]{1,3})["'`]?([^\s"'`<>(){}[\],;|]{6,128})/gi,
    accepts: ({ secret }) => isPasswordSaid(secret),
  },
  {
    id: "password-of-basic-auth",
    kind: "a password",
    keywords: ["basic"],
    pattern:
      /\bbasic[ -]auth(?:entication)?\b[^\n]{0,20}?[\s"'`][\w.@+-]{1,60}:([^\s"'`<>(){}[\],;|]{6,128})/gi,
    accepts: ({ secret }) => isPasswordSaid(secret),
  },
  {
    id: "password-of-named-user",
    kind: "a password",
    keywords: ["user", "login", "log in", "account", "cred"],
    // What begins a URL, as in `://user:pass@host:8080/path`, is another rule's, and of the version
    // `1:4.13+dfsg1` of a package `login` the epoch is no user.
    pattern:
      /(?<!:\/\/)\b(?:user(?:name)?|log ?in|account|cred(?:ential)?s?)\b["'`*_]{0,3}(?:[ \t:=]{1,3}|[ \t]{1,3}(?:as|is|with)[ \t:]{1,3})["'`]?(?!\d:)[\w.@+-]{1,60}:([^\s"'`<>(){}[\],;|:]{8,128})(?![:\w])/gi,
    accepts: ({ secret }) => isPasswordSaid(secret) && isHardToTakeForName(secret),
  },
  {
    id: "password-in-sentence",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    pattern: new RegExp(
      `(?:${NAME}${GIVEN}|${WITH}${NAME}[ \\t])[*_]{0,2}[ \\t]{0,5}${PASSWORD_VALUE}`,
      "gi",
    ),
    accepts: ({ secret }) => isPasswordInProse(secret),
  },
  {
    id: "password-changed",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    pattern: new RegExp(
      `\\b(?:changed|reset|set|updated|rotated)[ \\t](?:[\\p{L}-]{1,20}[ \\t]){0,4}(?:${PASSWORD_NAMES})[ \\t]to[ \\t]${PASSWORD_VALUE}`,
      "giu",
    ),
    accepts: ({ secret }) => isPasswordInProse(secret),
  },
  {
    id: "password-beside-user",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    // `log in with admin and password …`; of `with user and password fields` the user is no name.
    pattern: new RegExp(
      "\\b(?:with|as|use|using|mit|als|avec|con|com|met)[ \\t]" +
        "(?:(?:the|user|login|account|benutzer)[ \\t]){0,2}[\"'`]?" +
        "(?!(?:e?mail|login|name|user(?:name)?)\\b)[\\w.@+-]{2,60}[\"'`]?" +
        `[ \\t](?:and|und|et|y|e|en)[ \\t](?:the[ \\t])?(?:${PASSWORD_NAMES})[ \\t]{1,2}${PASSWORD_VALUE}`,
      "gi",
    ),
    accepts: ({ secret }) => isPasswordInProse(secret) && !NUMBERED.test(secret),
  },
  {
    id: "password-in-parentheses",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    pattern: new RegExp(`\\((?:${PASSWORD_NAMES})[ \\t]([^\\s"'\`<>(){}[\\],;|]{6,128})\\)`, "gi"),
    accepts: ({ secret }) => isPasswordInProse(secret) && isHardToTakeForName(secret),
  },
  {
    id: "password-before-name",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    pattern: new RegExp(`${FIRST}${SAID_OF_IT}${NAME_BEHIND}`, "giu"),
    accepts: ({ secret }) => isPasswordInProse(secret) && !NUMBERED.test(secret),
  },
  {
    id: "password-beside-name",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    pattern: new RegExp(`${FIRST}${ADDED_TO_IT}${NAME_BEHIND}`, "giu"),
    accepts: ({ secret }) =>
      isPasswordInProse(secret) && isHardToTakeForName(secret) && !NUMBERED.test(secret),
  },
  {
    id: "password-below",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    // Alone on the line below its name, or the first line of a block of code there.
    pattern: new RegExp(
      `${NAME}${WHAT_FOR}?(?:[ \\t]{0,5}:|[ \\t]{1,3}${IS}:?)?[*_]{0,2}(?:${LINE_END}){1,3}` +
        `(?:${FENCE})?[ \\t]{0,20}(?:[-+*>][ \\t]{1,4})?[*_]{0,2}["'\`]?` +
        "([^\\s\"'`<>(){}[\\],;|]{6,128})[\"'`]?[*_]{0,2}[ \\t]{0,20}(?=\\r?\\n|$)",
      "gi",
    ),
    accepts: (found) => isPasswordInProse(found.secret) && isAnnounced(found),
  },
];

/** A sentence's own sign at its end says nothing about the password. */
function isPasswordInProse(secret: string): boolean {
  const password = secret.replace(/[.,:;!?*_)]+$/, "");
  return isPasswordSaid(password) || isPassphrase(password);
}

const ANNOUNCES = new RegExp(`(?::|[ \\t]${IS})[*_]{0,2}\\s*$`, "i");
const HEADING = /(?:^|\n)[ \t>+*-]*(?:#{1,6}[ \t]|[*_]{2})[^\n]*$/;

/** Whether the line above the password says that one follows, and does not merely end so. */
function isAnnounced({ match, text, at }: FoundSecret): boolean {
  const above = match.slice(0, match.indexOf("\n") + 1);
  return ANNOUNCES.test(above) || HEADING.test(text.slice(Math.max(0, at - 100), at));
}

const MAIL_ADDRESS = /^[^\s@]+@[\w-]+\.[\w.-]+$/;

function isPasswordSaid(secret: string): boolean {
  return isStrongPassword(secret) && !MAIL_ADDRESS.test(secret);
}

/** One of several, as a text that explains them numbers them: `param2`, `PR#123`. */
const NUMBERED =
  /^(?:(?:arg(?:ument)?|argv|box|col(?:umn)?|env|field|group|input|item|key|line|option|param(?:eter)?|part|row|slot|step|value|var(?:iable)?|version)[-_]?|[a-z]{0,10}#)\d+$/i;

/** Behind a colon alone stand names, too: `user app:node20-alpine`, `login: Form:stepDone2`. */
function isHardToTakeForName(secret: string): boolean {
  const isMixed = isMixedPassword(secret) && /\d.*\d/.test(secret);
  return isMixed || (/\d/.test(secret) && /[!@#$%^&+=?]/.test(secret));
}
