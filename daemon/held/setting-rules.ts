import { isRandom } from "./assigned-rules.ts";
import { isStrongPassword } from "./password.ts";
import { entropyOf, isPlaceholder } from "./placeholder.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";

/** Names of settings that hold a secret, in part or whole. */
const NAMED =
  "\\w{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|token|api_?key|access_?key|secret_?key)" +
  "\\w{0,20}";
const KEYWORDS = ["pass", "pwd", "secret", "token", "key"];
/** A value without a blank, which a quote or a tag ends. */
const VALUE = "([^\\s\"'`<>\\\\]{6,256})";

/** Tokens by their form alone. */
const FORMS: readonly (readonly [id: string, kind: string, keyword: string, pattern: RegExp])[] = [
  ["laravel-key", "an application's key", "app_key", /\bAPP_KEY=base64:([A-Za-z0-9+/]{43}=)/g],
  ["firebase-key", "a Firebase server key", ":apa91b", /\bAAAA[\w-]{7}:APA91b[\w-]{100,200}/g],
  ["airtable", "an Airtable token", "pat", /\bpat[A-Za-z0-9]{14}\.[\da-f]{64}(?![\w.])/g],
  ["bitbucket", "a Bitbucket app password", "atbb", /\bATBB[A-Za-z0-9]{28,36}(?![\w-])/g],
  ["posthog", "a PostHog key", "phx_", /\bphx_[A-Za-z0-9]{40,60}(?![\w-])/g],
  ["resend", "a Resend key", "re_", /\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![\w-])/g],
  ["tavily", "a Tavily key", "tvly-", /\btvly-(?:dev-)?[A-Za-z0-9]{32}(?![\w-])/g],
  ["ngrok", "an ngrok token", "authtoken", /\badd-authtoken[ \t]{1,3}(\w{30,60})(?![\w-])/g],
];

/** Rules for secrets in settings that have no `:` or `=` between a name and its value. */
export const SETTING_RULES: readonly SecretRule[] = [
  ...FORMS.map(([id, kind, keyword, pattern]) => ({
    id,
    kind,
    keywords: [keyword],
    pattern,
    accepts: ({ secret }: FoundSecret) => !isPlaceholder(secret) && entropyOf(secret) > 3,
  })),
  {
    id: "django-key",
    kind: "an application's key",
    keywords: ["secret_key"],
    pattern: /\bSECRET_KEY["']?[ \t]{0,5}[:=][ \t]{0,5}["']([^\s"']{40,100})["']/g,
    accepts: ({ secret }) =>
      !isPlaceholder(secret) && /\d/.test(secret) && /[^\w-]/.test(secret) && entropyOf(secret) > 4,
  },
  {
    id: "secret-in-element",
    kind: "a password",
    keywords: KEYWORDS,
    pattern: new RegExp(`<${NAMED}>[ \\t]{0,5}${VALUE}[ \\t]{0,5}</`, "gi"),
    accepts: (found) => isGivenValue(found),
  },
  {
    id: "secret-in-attribute",
    kind: "a password",
    keywords: KEYWORDS,
    pattern: new RegExp(
      `(?:name|key|type|id)=["']${NAMED}["'][^<>\\n]{0,100}?[ \\t]value=["']${VALUE}["']`,
      "gi",
    ),
    accepts: (found) => isGivenValue(found),
  },
  {
    id: "secret-in-environment",
    kind: "a password",
    keywords: KEYWORDS,
    // Of Docker, Windows and fish: the value stands behind a blank.
    pattern: new RegExp(
      `(?:^|\\n)[ \\t]{0,20}(?:[-*$>][ \\t])?(?:ENV|setx|set[ \\t]-[gUx]{1,3})[ \\t]{1,5}${NAMED}` +
        `[ \\t]{1,5}["']?${VALUE}["']?(?=[ \\t]{0,20}(?:/M)?\\r?(?:\\n|$))`,
      "gi",
    ),
    accepts: (found) => isGivenValue(found),
  },
  {
    id: "secret-of-variable",
    kind: "a password",
    keywords: KEYWORDS,
    pattern: new RegExp(
      `\\bvariable[ \\t]{1,3}"${NAMED}"[ \\t]{0,3}\\{[^{}]{0,300}?\\bdefault[ \\t]{0,20}=[ \\t]{0,5}"${VALUE}"`,
      "gi",
    ),
    accepts: (found) => isGivenValue(found),
  },
  {
    id: "secret-in-escaped-json",
    kind: "a password",
    keywords: KEYWORDS,
    pattern: new RegExp(`\\\\"${NAMED}\\\\"[ \\t]{0,3}:[ \\t]{0,3}\\\\"${VALUE}\\\\"`, "gi"),
    accepts: (found) => isGivenValue(found),
  },
];

/** A token of such a length is random, a shorter value a password. */
const TOKEN_LENGTH_MIN = 20;

function isGivenValue({ secret }: FoundSecret): boolean {
  if (/^(?:\$|%|\{|@|[a-z][\w+.-]*:\/\/|[./~])/i.test(secret)) return false;
  return isStrongPassword(secret) && (secret.length < TOKEN_LENGTH_MIN || isRandom(secret));
}
