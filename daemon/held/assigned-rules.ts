import { isGroupedPassword, isMixedPassword, isStrongPassword } from "./password.ts";
import { PASSWORD_VALUE } from "./password-names.ts";
import { entropyOf, isPlaceholder } from "./placeholder.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";
import { isTypeName } from "./type-name.ts";
import { isWordy, standsForSecret } from "./wordy.ts";

/** What says that a value is secret: a name ends with one of these, or goes on from it. */
const NAMES =
  "secret|token|passw(?:or)?d|passphrase|pass|pwd|credentials?|creds|" +
  "(?:access|admin|api|app|auth|crypt|encryption|hmac|jwt|license|master|private|secret|" +
  "service|session|shared|signing|storage|webhook)[ _-]?key";

/** What is known by everybody, or changes with each request. */
const NO_SECRET_BEFORE =
  /(?:bottom|cache|continuation|csrf|cursor|design|foreign|idempotency|lock|next|page|primary|pub(?:lic|lishable)?|sync|xsrf)[ _-]?$/i;
/** A name of something about a secret: `token_url`, `secretName`, `SECRET_KEY_BASE64_LENGTH`. */
const ABOUT_ONE =
  /(?:[_. -]|(?=[A-Z]))(?:arn|bytes|checksum|count|digest|endpoint|env|expir\w*|file|fingerprint|format|hash|id|ids|issuer|length|limit|name|path|pattern|prefix|provider|ref|scope|sha\d*|size|sum|ttl|type|ur[il]|usage|version)["'`]?$/i;

const ASSIGNED_TO =
  `(?:${NAMES})[\\w.-]{0,20}["'\`]?[*_]{0,2}[ \\t]{0,5}(?::=|=>|\\?=|[:=])[*_]{0,2}` +
  "[ \\t]{0,5}";
/** A name, and what is assigned to it to its end. */
const ASSIGNED = new RegExp(
  `${ASSIGNED_TO}["'\`]?([\\w+/-]{16,512}={0,2})(?![\\w+/=([\\\\-]|[.:]\\w|[.]{2}|…)`,
  "gi",
);

/** How random values are told from names, which are made of words, and from what is filled in. */
export const ASSIGNED_RULES: readonly SecretRule[] = [
  {
    id: "assigned-secret",
    kind: "an API key or a token",
    keywords: ["secret", "token", "pass", "pwd", "cred", "key"],
    pattern: ASSIGNED,
    accepts: (found) => isAssignedSecret(found),
  },
  {
    id: "assigned-secret-with-signs",
    kind: "an API key or a token",
    keywords: ["secret", "token", "pass", "pwd", "cred", "key"],
    pattern: new RegExp(`${ASSIGNED_TO}${PASSWORD_VALUE}`, "gi"),
    accepts: (found) =>
      (isSignedValue(found.secret) || isGroupedPassword(found.secret)) && isAssignedSecret(found),
  },
  {
    id: "exported-secret",
    kind: "an API key or a token",
    // Whoever exports a random value by any name has been given it.
    keywords: ["export", "setenv"],
    pattern:
      /(?:^|[\s;&`"'(])(?:export|setenv)[ \t]{1,5}\w{1,80}(?:=|[ \t]{1,5})["']?([\w+-][\w+/-]{23,511}={0,2})(?![\w+/=([\\-]|[.:]\w|[.]{2}|…)/g,
    accepts: (found) => isMixed(found.secret) && isAssignedSecret(found),
  },
  {
    id: "password-in-block",
    kind: "a password",
    keywords: ["pass", "pwd"],
    // YAML, with the value on lines of its own.
    pattern:
      /(?:passw(?:or)?d|passphrase|pass|pwd)["']?:[ \t]{0,5}[|>][+-]?[ \t]{0,5}\r?\n[ \t]{1,20}([^\s]{6,128})[ \t]{0,5}(?:\r?\n|$)/gi,
    accepts: ({ secret }) => isStrongPassword(secret) || isRandom(secret),
  },
  {
    id: "token-in-url",
    kind: "a token in a URL",
    keywords: ["://"],
    pattern: /\bhttps?:\/\/([\w.~-]{16,255})(?::x-oauth-basic|:)?@[\w.-]{1,200}/gi,
    accepts: ({ secret }) => isRandom(secret),
  },
  {
    id: "session-cookie",
    kind: "a session's cookie",
    keywords: ["cookie"],
    pattern:
      /\b(?:set-)?cookie["']?:\s{0,3}["']?(?:[\w.-]{1,60}=[^;\s"']{0,200};\s{0,3}){0,5}[\w.-]{0,30}(?:sess(?:ion)?|sid|auth|token|jwt)[\w.-]{0,20}=([\w.%+/~-]{16,512}={0,2})/gi,
    accepts: ({ secret }) => isRandom(secret),
  },
  {
    id: "discord-webhook",
    kind: "a Discord webhook URL",
    keywords: ["discord"],
    pattern:
      /\bdiscord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{17,20}\/([\w-]{60,80})(?![\w-])/gi,
    accepts: ({ secret }) => isRandom(secret),
  },
  {
    id: "mailchimp",
    kind: "a Mailchimp API key",
    keywords: ["-us"],
    pattern: /(?<![\w-])[\da-f]{32}-us\d{1,2}(?![\w-])/g,
    accepts: ({ secret }) => isRandom(secret),
  },
  {
    id: "mailgun",
    kind: "a Mailgun API key",
    keywords: ["key-"],
    pattern: /(?<![\w-])key-[\da-f]{32}(?![\w-])/g,
    accepts: ({ secret }) => isRandom(secret),
  },
  {
    id: "replicate",
    kind: "a Replicate token",
    keywords: ["r8_"],
    pattern: /\br8_[A-Za-z0-9]{37}(?![A-Za-z0-9])/g,
    accepts: ({ secret }) => isRandom(secret),
  },
  {
    id: "crates-io",
    kind: "a crates.io token",
    keywords: ["cio"],
    pattern: /(?<![\w-])cio[A-Za-z0-9]{32}(?![\w-])/g,
    accepts: ({ secret }) => isMixed(secret) && isRandom(secret),
  },
  {
    id: "github-token",
    kind: "a GitHub token",
    keywords: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    // One of GitHub's very form is none of an example, even where its characters are counted up.
    pattern: /\bgh[pousr]_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g,
    accepts: ({ secret }) => entropyOf(secret) > COUNTED_ENTROPY && isCountedUp(secret),
  },
];

/** A commit, a checksum and an address are in small letters. */
function isMixed(value: string): boolean {
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value);
}

/** What has a sign that no name has, nor a URL; an expression has a dot, too: `config!.Key2`. */
function isSignedValue(value: string): boolean {
  const isExpression = /\w[!?]?\.[a-z_]/i.test(value);
  const hasSign = /[!@#$^*?~]/.test(value.slice(0, -1));
  return hasSign && !isExpression && isMixedPassword(value) && isStrongPassword(value);
}

/** Of all 36 letters and digits; what repeats a few of them is an example. */
const COUNTED_ENTROPY = 4.5;

/** A placeholder for nothing else than that its characters follow each other. */
function isCountedUp(token: string): boolean {
  const mixed = [...token.slice(4)].sort((one, other) => mixing(one) - mixing(other)).join("");
  return isPlaceholder(token) && !isPlaceholder(mixed);
}

function mixing(character: string): number {
  return (character.charCodeAt(0) * 7919) % 101;
}

function isAssignedSecret({ secret, match, text, at }: FoundSecret): boolean {
  const before = text.slice(Math.max(0, at - 30), at);
  const name = match
    .slice(0, match.lastIndexOf(secret))
    .replace(/["'`]?[*_ \t]*[:=?][:=>*_ \t"'`]*$/, "");
  if (NO_SECRET_BEFORE.test(before) || ABOUT_ONE.test(name)) return false;
  // In the midst of a word, such as `bypass` and `compass`.
  if (/^p(?:ass$|ass[^wp]|wd)/i.test(name) && /[a-z]$/i.test(before) && /^[a-z]/.test(name)) {
    return false;
  }
  return isRandom(secret);
}

/** Whether nobody would have written a value: it is no word, name, or example. */
export function isRandom(value: string): boolean {
  return value.length >= 8 && !standsForSecret(value) && !isWordy(value) && !isTypeName(value);
}
