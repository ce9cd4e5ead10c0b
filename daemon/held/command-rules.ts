import { isRandom } from "./assigned-rules.ts";
import { isPassphrase, isStrongPassword } from "./password.ts";
import type { SecretRule } from "./secret-rule.ts";

/** Other words of the same command, also on its next lines. */
const WORDS = "(?:[^\\n\\\\|;&`]|\\\\\\r?\\n?){0,200}?";

/** A word of a shell, in quotes or not. */
const WORD = "(?:\"([^\"\\n]{6,128})\"|'([^'\\n]{6,128})'|([^\\s\"'`<>|;&()]{6,128}))";

/** Programs by the short option behind which they take a password. */
const SHORT_OPTIONS: readonly (readonly [option: string, programs: string])[] = [
  ["p[ \\t=]{0,3}", "(?:docker|podman|nerdctl|buildah|skopeo|oras|helm registry|az|oc|cf) login"],
  ["p[ \\t=]{0,3}", "mongo\\w{0,7}|cqlsh|rabbitmqadmin"],
  ["P[ \\t=]{0,3}", "sqlcmd|bcp|osql|unzip|zip|ipmitool"],
  ["a[ \\t=]{0,3}", "(?:redis|valkey|keydb)-cli"],
  ["w[ \\t=]{0,3}", "ldap\\w{3,10}"],
  // Behind a blank it is something else.
  ["p", "7z[ar]?"],
];
const BEHIND_OPTION = SHORT_OPTIONS.map(
  ([option, programs]) => `(?:${programs})\\b${WORDS}(?<=\\s)-${option}`,
).join("|");

const BEHIND_KEYWORDS = [
  ...[" login", "mongo", "cqlsh", "rabbitmqadmin", "sqlcmd", "bcp", "osql", "zip", "ipmitool"],
  ...["-cli", "ldap", "7z", "user"],
];

/** Windows takes it behind the user's name. */
const BEHIND_USER = "net1?(?:\\.exe)?[ \\t]{1,3}user[ \\t]{1,3}[\\w.\\\\-]{1,60}[ \\t]{1,3}";

/** What reads a password, or a token, from its input. */
const READER =
  "(?:--?[a-z-]{0,20}(?:passw(?:or)?d|passphrase|pass|token)[a-z-]{0,20}|" +
  "sudo[ \\t]{1,3}(?:-\\w[ \\t]{1,3}){0,3}-S|chpasswd|passwd)(?![\\w-])";
const PRINTED =
  "(?:echo|printf)[ \\t]{1,3}(?:-[neE]{1,3}[ \\t]{1,3})?(?:[\"']?%s(?:\\\\n)?[\"']?[ \\t]{1,3})?";

/** Where a program is to find it, as `openssl` is told. */
const NAMED_SOURCE = /^(?:env|fd|file|pass):/i;

/** A file's name, or a variable, alone or behind the user's name as `chpasswd` reads it. */
const ELSEWHERE = /^@|^(?:[\w.-]{1,60}:)?\$(?:\w{1,60}|\{\w{1,60}\})$/;

function isGiven(secret: string): boolean {
  return !ELSEWHERE.test(secret) && (isStrongPassword(secret) || isPassphrase(secret));
}

/** A shell's or YAML's word without the quotes that are in it. */
function unquoted(word: string): string {
  return word.replace(/\\?["']/g, "");
}

/** Rules for passwords that a command is given. */
export const COMMAND_RULES: readonly SecretRule[] = [
  {
    id: "password-in-command",
    kind: "a password in a command",
    keywords: ["curl"],
    // A quote belongs to the password where more of the word follows: `'bob:O''Reilly2'`.
    pattern:
      /\bcurl\s(?:[^\n\\]|\\\r?\n?){0,300}?(?<=\s)(?:-[A-Za-z]{0,6}u|--(?:proxy-)?user)[ =]{0,2}["']?[^\s:"']{1,100}:["']?((?:[^\s"'`]|["'](?=[\\"']{0,3}\w)){6,100})/g,
    accepts: ({ secret }) => isStrongPassword(unquoted(secret)),
  },
  {
    id: "password-of-option",
    kind: "a password in a command",
    keywords: ["-pass", "-pwd", "password", "passphrase"],
    // The value is the next word, also behind a backslash at the line's end, or the next line is
    // nothing else, as in a list of arguments.
    pattern:
      /(?<![\w-])--?(?!no-|ask-)(?:[a-z][a-z0-9]{0,20}-){0,3}(?:passw(?:or)?d|passphrase|passcode|pass|pwd)(?:["'](?:,[ \t]{0,10}\r?\n?)?|,(?=[ \t]))?(?:[ \t]{1,10}(?:\\\r?\n[ \t]{0,40})?|[ \t]{0,10}\r?\n[ \t]{0,40}(?:-[ \t]{1,4})?(?=[^\s]{6,130}[ \t]{0,10}[\\]?\r?(?:\n|$)))(?:"([^"\n]{6,128})"|'((?:[^'\n]|''(?=\w)|(?<=\\)'(?=\w)){6,128})'|(?!-)((?:[^\s"'`<>|;,()]|'(?=\w)){6,128})(?![^\s"'`,;|)]))/gi,
    accepts: ({ secret }) =>
      !NAMED_SOURCE.test(secret) && (isStrongPassword(unquoted(secret)) || isPassphrase(secret)),
  },
  {
    id: "password-of-client",
    kind: "a password in a command",
    keywords: ["sshpass", "mysql", "mariadb"],
    pattern:
      /\b(?:sshpass\s{1,3}(?:-[ev]\s{1,3})?-p\s{0,3}|(?:mysql(?:dump|admin)?|mariadb)\b[^\n]{0,200}?(?<=\s)(?:-p|--password=))(?:"([^"\n]{6,128})"|'([^'\n]{6,128})'|([^\s"'`<>|;]{6,128}))/g,
    accepts: ({ secret }) => isStrongPassword(secret) || isRandom(secret),
  },
  {
    id: "password-of-account",
    kind: "a database's password",
    keywords: ["identified"],
    // Of MySQL, Oracle and ClickHouse: `CREATE USER shop IDENTIFIED BY '…'`.
    pattern:
      /\bIDENTIFIED\s{1,3}(?:WITH\s{1,3}["'`]?\w{1,60}["'`]?\s{1,3})?(?:BY|AS)\s{1,3}(?:PASSWORD\s{1,3})?(?:"([^"\n]{6,128})"|'([^'\n]{6,128})')/gi,
    accepts: ({ secret }) => isGiven(secret),
  },
  {
    id: "password-of-short-option",
    kind: "a password in a command",
    keywords: BEHIND_KEYWORDS,
    pattern: new RegExp(`\\b(?:${BEHIND_OPTION}|${BEHIND_USER})${WORD}`, "g"),
    accepts: ({ secret }) => isGiven(secret),
  },
  {
    id: "password-as-input",
    kind: "a password in a command",
    keywords: ["echo", "printf", "<<<"],
    pattern: new RegExp(
      `\\b${PRINTED}${WORD}[ \\t]{0,3}\\|${WORDS}(?<=\\s)${READER}|` +
        `(?<=\\s)${READER}${WORDS}<<<[ \\t]{0,3}${WORD}`,
      "g",
    ),
    accepts: ({ secret }) => isGiven(secret),
  },
];
