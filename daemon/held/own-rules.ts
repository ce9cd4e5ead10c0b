import { isMixedPassword, isPassphrase, isSpacedPassphrase, isStrongPassword } from "./password.ts";
import { PASSWORD_KEYWORDS, PASSWORD_VALUE, WIFI_KEYS } from "./password-names.ts";
import { entropyOf, isPlaceholder } from "./placeholder.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";

/** Tokens that are recognised by their beginning, and that gitleaks does not know in each form. */
const MARKED: readonly (readonly [id: string, kind: string, keyword: string, pattern: RegExp])[] = [
  // Not the emulator's `mst_dev_…`: they are in its documents and give access to nothing else.
  [
    "memsync-token",
    "a memsync token",
    "mst_",
    /\bmst_(?:[0-9A-Za-z]{36}|local_[\w-]{32})(?![\w-])/g,
  ],
  ["anthropic", "an Anthropic API key", "sk-ant-", /\bsk-ant-[a-z]{3,8}\d\d-[\w-]{80,160}/g],
  ["docker", "a Docker token", "dckr_", /\bdckr_(?:pat|oat)_[\w-]{27,64}(?![\w-])/g],
  ["figma", "a Figma token", "figd_", /\bfigd_[\w-]{40,200}(?![\w-])/g],
  ["google-oauth", "a Google OAuth secret", "gocspx-", /\bGOCSPX-[\w-]{28}(?![\w-])/g],
  ["google-oauth-token", "a Google OAuth token", "ya29.", /\bya29\.[\w-]{40,400}(?![\w-])/g],
  ["groq", "a Groq API key", "gsk_", /\bgsk_[A-Za-z0-9]{52}(?![A-Za-z0-9])/g],
  ["linear", "a Linear API key", "lin_", /\blin_(?:api|oauth)_[A-Za-z0-9]{32,128}\b/g],
  ["openai", "an OpenAI API key", "sk-", /\bsk-(?:proj|svcacct|admin)-[\w-]{74,200}(?![\w-])/g],
  ["new-relic", "a New Relic key", "nrak-", /\bNRAK-[A-Z0-9]{27}(?![A-Za-z0-9])/g],
  ["shopify", "a Shopify token", "shp", /\bshp(?:at|ca|pa|ss)_[A-Za-z0-9]{32,64}(?![A-Za-z0-9])/g],
  ["slack", "a Slack token", "xox", /\bxox[a-z]-(?:\d-)?(?:[A-Za-z0-9]{1,40}-){1,5}[\w%]{10,200}/g],
  [
    "slack-webhook",
    "a Slack webhook URL",
    "hooks.slack.com",
    /\bhooks\.slack\.com\/services\/T[A-Za-z0-9]{1,40}\/B[A-Za-z0-9]{1,40}\/([A-Za-z0-9]{10,40})/gi,
  ],
  ["notion", "a Notion token", "ntn_", /\bntn_[A-Za-z0-9]{40,60}(?![A-Za-z0-9])/g],
  [
    "stripe-webhook",
    "a Stripe webhook's secret",
    "whsec_",
    /\bwhsec_[A-Za-z0-9+/]{24,100}(?![A-Za-z0-9+/])/g,
  ],
  ["sonarqube", "a SonarQube token", "sq", /\bsq[apu]_[a-f0-9]{40}(?![A-Za-z0-9])/g],
  ["supabase", "a Supabase token", "sb", /\b(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{30,60})(?![\w-])/g],
  ["tailscale", "a Tailscale key", "tskey-", /\btskey-[a-z]{2,12}-[A-Za-z0-9]{8,40}-\w{16,64}\b/g],
  ["telegram", "a Telegram bot token", ":aa", /\b\d{8,10}:AA[\w-]{33}(?![\w-])/g],
  ["vercel", "a Vercel token", "vc", /\bvc[piark]_[A-Za-z0-9]{20,60}(?![A-Za-z0-9])/g],
  ["vault", "a Vault token", "hvr.", /\bhvr\.[\w-]{90,120}(?![\w-])/g],
  ["xai", "an xAI API key", "xai-", /\bxai-[A-Za-z0-9]{80}(?![A-Za-z0-9])/g],
];

/** A token has about 4 bits of information for each character; names and words have fewer. */
const MARKED_ENTROPY = 3;

/** An address on this machine gives access to nothing elsewhere. */
const HERE =
  /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\]|host\.docker\.internal|(?:[\w-]+\.)*(?:invalid|localhost|test))$/i;

/** An example's address. A password beside it may be a real one. */
const EXAMPLE =
  /^(?:host|hostname|server|(?:[\w-]+\.)*(?:example|company|(?:my)?domain)(?:\.\w+)?)$/i;

/** Passwords that every other database guide contains. */
const COMMON =
  /^(?:pass(?:word|wd)?|pwd|secret|token|postgres(?:ql)?|mysql|mongo|redis|rabbitmq|minio|root|admin|user(?:name)?|guest|test|dev(?:elopment)?|local|db)\d{0,3}$/i;

/** `pass` alone is a result, too: `Pass: 12tests`, `pass: PR#123`. */
const IN_PROSE = /^pass["'`]?[*_]{0,2}[ \t]{0,10}:/i;

/** `12tests`, `PR#123`, or what passed: `unit-tests-2024`. */
function isResult(value: string): boolean {
  return value.length < 8 || /^\d/.test(value) || /^[a-z]+(?:[-_][a-z]+)+[-_]\d+$/i.test(value);
}

/** Our own rules: for what gitleaks does not know, or finds by words that prose contains, too. */
export const OWN_RULES: readonly SecretRule[] = [
  ...MARKED.map(([id, kind, keyword, pattern]) => ({
    id,
    kind,
    keywords: [keyword],
    pattern,
    accepts: ({ secret }: FoundSecret) =>
      !isPlaceholder(secret) && entropyOf(secret) > MARKED_ENTROPY,
  })),
  {
    id: "aws-secret-key",
    kind: "an AWS secret key",
    keywords: ["secret"],
    pattern:
      /secret[_-]?(?:access[_-]?)?key["'`]?\s{0,3}(?:=>|[:=])\s{0,3}["'`]?([A-Za-z0-9/+]{40})(?![\w/+=])/gi,
    accepts: ({ secret }) => !isPlaceholder(secret) && entropyOf(secret) > 3.5,
  },
  {
    id: "npm-registry-token",
    kind: "an npm token",
    keywords: ["_authtoken"],
    pattern: /_authToken\s{0,3}=\s{0,3}["']?([^\s"'$]{10,200})/gi,
    accepts: ({ secret }) => !isPlaceholder(secret) && /\d/.test(secret),
  },
  {
    id: "private-key",
    kind: "a private key",
    // A key that was cut off is still a key. Its lines may be indented, commented out or quoted;
    // what stands between them is in none of them, so that there is one way to read it.
    keywords: ["private key-----", "private key block-----"],
    pattern:
      /-----BEGIN[ A-Z0-9]{0,20}PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[nrt]|[\s>#*;%!|\\])+(?:[A-Za-z-]{1,20}:(?:[^\n\\]{0,100}(?=\\[nr]|\n)|[ \t]{0,4}[^\s\\]{0,100})|[A-Za-z0-9+/=]{1,8000})){1,600}/g,
    accepts: ({ secret }) => {
      const [body] = /[A-Za-z0-9+/]{32,}/.exec(secret) ?? [];
      return body !== undefined && !isPlaceholder(body);
    },
  },
  {
    id: "authorization-header",
    kind: "a token in a header",
    keywords: ["authorization", "x-api-key", "bearer"],
    pattern:
      /\b(?:authorization|x-api-key)["'`]?\s{0,3}[:=]\s{0,3}["'`]?(?:(?:bearer|token|basic)\s{1,3})?([\w.~+/-]{16,500}={0,2})(?![\w.~+/=-])/gi,
    accepts: ({ secret }) =>
      !isPlaceholder(secret) &&
      /\d/.test(secret) &&
      /[a-z]/i.test(secret) &&
      entropyOf(secret) > 3.2,
  },
  {
    id: "password-in-url",
    kind: "a password in a URL",
    keywords: ["://"],
    pattern:
      /\b(?!mongodb|mysql|postgres|redis)[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'`<>|]{0,100}:[^\s/@"'`<>|]{3,200}@[^\s/?#"'`<>|,)]{1,200}/gi,
    accepts: (found) => opensSomething(found),
  },
  {
    id: "password-of-database",
    kind: "a database's password",
    keywords: ["mongodb", "mysql", "postgres", "redis"],
    pattern:
      /\b(?:mongodb|mysqlx?|postgres(?:ql)?|rediss?)(?:\+[a-z]{1,20})?:\/\/[^\s:/@"'`<>|]{0,100}:[^\s/@"'`<>|]{3,200}@[^\s/?#"'`<>|,)]{1,200}/gi,
    accepts: (found) => opensSomething(found),
  },
  {
    id: "password",
    kind: "a password",
    keywords: PASSWORD_KEYWORDS,
    pattern: new RegExp(
      "(?:passw(?:or[dt]|d)|passphrase|passcode|kennwort|contrase[ñn]a|" +
        `(?<![a-z])(?:${WIFI_KEYS}|pass|pwd?|senha|mot de passe))["'\`]?[*_]{0,2}` +
        "(?:[ \\t]{0,10}(?::=|=>|[:=])|[ \\t]{1,3}(?:is|was)[ \\t:])[*_]{0,2}[ \\t]{0,10}" +
        PASSWORD_VALUE,
      "gi",
    ),
    accepts: ({ secret, match, text, at }) => {
      if (isPassphrase(secret)) return true;
      // In `ansible_become_pass` it is none.
      const isWord = !/[\w-]/.test(text.charAt(at - 1));
      return isStrongPassword(secret) && !(isWord && IN_PROSE.test(match) && isResult(secret));
    },
  },
  {
    id: "passphrase",
    kind: "a password",
    keywords: ["passw", "passphrase", "passcode", "pwd", "wifi", "wi-fi", "wlan", "wpa"],
    // Words to the end of the line, of a quotation or of a clause.
    pattern:
      /(?:passw(?:or[dt]|d)|passphrase|passcode|(?<![a-z])(?:pwd|(?:wi-?fi|wlan|wpa\d?)(?:[ _-]network)?[ _-]key))["'`]?[*_]{0,2}[ \t]{0,10}(?::=|=>|[:=])[*_]{0,2}[ \t]{0,10}["'`]?((?<![a-z])[a-z]{3,12}(?: [a-z]{3,12}){3,11})(?=["'`,;)|\]}<\r\n]|[.]?[ \t]{0,10}(?:$|[#\r\n]))/gi,
    accepts: ({ secret }) => isSpacedPassphrase(secret),
  },
  {
    id: "password-in-netrc",
    kind: "a password of a netrc file",
    keywords: ["password"],
    pattern:
      /\b(?:machine\s{1,4}[^\s"'`<>]{1,200}|default)\s{1,4}(?:login|user)\s{1,4}(?!anonymous\s|ftp\s)[^\s"'`<>]{1,200}\s{1,4}password\s{1,4}([^\s"'`<>]{3,199}[^\s"'`<>.,:;)])/gi,
    accepts: ({ match, secret }) => opensMachine(match, secret),
  },
  {
    id: "discord-bot",
    kind: "a Discord bot's token",
    // No word marks it: it begins with the bot's number in base64.
    keywords: ["."],
    pattern: /(?<![\w.-])([MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w.-])/g,
    accepts: ({ secret }) => !isPlaceholder(secret) && isNumberOfBot(secret),
  },
];

/** Discord's ids have 17 to 20 digits. */
function isNumberOfBot(token: string): boolean {
  const [number = ""] = token.split(".", 1);
  return /^\d{17,20}$/.test(Buffer.from(number, "base64url").toString());
}

const IN_NETRC = /^machine\s+(\S+)\s/i;

/** Whether a line of a netrc file has a password for something on another machine. */
function opensMachine(match: string, password: string): boolean {
  const [, host] = IN_NETRC.exec(match) ?? [];
  if (isStrongPassword(password) || isPassphrase(password)) return !(host && HERE.test(host));
  // Beside a machine's name even a plain word is a password.
  const isNamed = host?.includes(".") === true && !HERE.test(host) && !EXAMPLE.test(host);
  return isNamed && password.length >= 6 && !isPlaceholder(password) && !COMMON.test(password);
}

function withoutEscapes(part: string): string {
  return part.replace(/%[\da-f]{2}/gi, "");
}

const IN_URL = /:\/\/([^:]*):(.*)@(.*)$/s;

/** Whether the password in a URL may give access to something on another machine. */
function opensSomething({ match }: FoundSecret): boolean {
  const [, user = "", password = "", place = ""] = IN_URL.exec(match) ?? [];
  const host = place.startsWith("[") ? place.replace(/\]:\d*$/, "]") : place.replace(/:.*$/, "");
  if (HERE.test(host) || isPlaceholder(password) || COMMON.test(password)) return false;
  return password !== user && (!EXAMPLE.test(host) || isMixedPassword(withoutEscapes(password)));
}
