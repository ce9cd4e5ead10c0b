import { isRandom } from "./assigned-rules.ts";
import { isMixedPassword, isStrongPassword } from "./password.ts";
import { entropyOf, isPlaceholder } from "./placeholder.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";
import { FOR, KEYS_OF_API } from "./sentence-rules.ts";
import { standsForSecret } from "./wordy.ts";

/** Base64 of `-----BEGIN`. */
const PEM = "LS0tLS1CRUdJTi";

/** Rules for secrets as programs keep them in their files, where no name says that they are any. */
export const FILE_RULES: readonly SecretRule[] = [
  {
    id: "key-in-base64",
    kind: "a private key",
    keywords: [PEM.toLowerCase()],
    // Of a kubeconfig, or a secret of Kubernetes. Its beginning tells it from a certificate.
    pattern: new RegExp(`(?<![\\w+/])${PEM}[A-Za-z0-9+/]{50,16000}={0,2}`, "g"),
    accepts: ({ secret }) => {
      const [, body] = / PRIVATE KEY-----\s*(\S{4})/.exec(atob(wholeBytes(secret))) ?? [];
      return body !== undefined && !isPlaceholder(body) && entropyOf(secret) > 4;
    },
  },
  {
    id: "putty-key",
    kind: "a private key",
    keywords: ["private-lines:"],
    pattern:
      /\bPrivate-Lines:[ \t]{1,3}\d{1,3}\r?\n((?:[ \t>]{0,10}[A-Za-z0-9+/]{24,76}={0,2}(?:\r?\n|$)){1,100})/g,
    accepts: ({ secret }) => entropyOf(secret) > 4,
  },
  {
    id: "password-hash",
    kind: "a password's hash",
    keywords: ["$1$", "$5$", "$6$", "$y$", "$apr1$"],
    // Of `shadow` and `htpasswd`.
    pattern:
      /(?<![\w$])\$(?:[56]\$(?:rounds=\d{1,9}\$)?[\w./]{1,16}|y\$[\w./]{1,8}\$[\w./]{1,86}|(?:1|apr1)\$[\w./]{1,8})\$[\w./]{22,86}(?![\w./])/g,
    accepts: ({ secret }) => {
      const [salt = "", hash = ""] = secret.split("$").slice(-2);
      return ![salt, hash].some(isPlaceholder) && entropyOf(hash) > 3.5;
    },
  },
  {
    id: "password-of-pgpass",
    kind: "a database's password",
    keywords: [":"],
    // On this machine it gives access to nothing elsewhere. A year, or a line, is of a log.
    pattern:
      /(?<=^|[\n"'`])[ \t]{0,10}(?!localhost:|127\.)[\w.*-]{1,253}:(?:[56]\d{3}|\d{5}|\*):(?!\d{1,63}:)[\w.*-]{1,63}:[\w.@*-]{1,63}:((?:[^\s:"'`<>\\]|\\.){6,128})(?=["'`]?[ \t]{0,10}(?:\r?\n|$))/g,
    accepts: ({ secret, match }) =>
      isStrongPassword(secret) && isRandom(secret) && (isMixedPassword(secret) || hasHost(match)),
  },
  {
    id: "google-refresh-token",
    kind: "a Google OAuth token",
    keywords: ["1//0"],
    pattern: /(?<![\w/:.-])1\/\/0[\w-]{40,200}(?![\w-])/g,
    accepts: ({ secret }) => !standsForSecret(secret) && entropyOf(secret) > 4,
  },
  {
    id: "mapbox",
    kind: "a Mapbox token",
    keywords: ["sk.eyj"],
    pattern: /(?<![\w.-])sk\.eyJ[\w-]{20,300}\.[\w-]{20,64}(?![\w-])/g,
    accepts: ({ secret }) => !standsForSecret(secret) && entropyOf(secret) > 4,
  },
  {
    id: "key-below",
    kind: "an API key or a token",
    keywords: ["key", "token", "secret", "api"],
    // Alone on the line below its heading, or the first line of a block of code there.
    pattern: new RegExp(
      "(?<=^|\\n)[ \\t]{0,10}(?:[-*+>][ \\t]{1,3})?(?:#{1,6}[ \\t]{1,3}|[*_]{2})?" +
        "(?:[\\w()./-]{1,30}[ \\t]){0,5}(?:app[ _-](?:key|token|secret)|" +
        `${KEYS_OF_API})(?:[ \\t](?:is|ist))?` +
        // What it is for: `## API key (prod)`.
        `(?:[ \\t](?:\\([^()\\n]{1,60}\\)|(?:${FOR}|[-–—])[ \\t][^\\n.:=]{1,40}))?` +
        "(?::[*_]{0,2}|[*_]{1,2}:?|(?<=#[^\\n]{0,200}))[ \\t]{0,20}(?:\\r?\\n[ \\t]{0,20}){1,3}" +
        "(?:(?:```|~~~)\\w{0,20}[ \\t]{0,20}\\r?\\n)?[ \\t]{0,20}" +
        "(?:[-+*>][ \\t]{1,4})?[*_]{0,2}[\"'`]?" +
        "([\\w+/.-]{20,512}={0,2})[\"'`]?[*_]{0,2}[ \\t]{0,20}(?=\\r?\\n|$)",
      "giu",
    ),
    accepts: (found) => isKeyBelow(found),
  },
];

/** Whether it begins with the whole name of another machine. */
function hasHost(line: string): boolean {
  return /^[ \t]*[\w-]+\./.test(line);
}

/** As much of base64 as makes whole bytes. */
function wholeBytes(base64: string): string {
  const letters = base64.replace(/=+$/, "");
  return letters.slice(0, letters.length - (letters.length % 4));
}

/** What changes with each request, or is for everybody. */
const NO_SECRET = /\b(?:csrf|cursor|next|page|public|publishable|sync|xsrf)\b/i;

function isKeyBelow({ secret, match }: FoundSecret): boolean {
  const heading = match.slice(0, match.length - secret.length);
  return !NO_SECRET.test(heading) && /\d/.test(secret) && isRandom(secret) && entropyOf(secret) > 3;
}
