// Writes daemon/held/gitleaks-rules.json, the rules by which secrets are found, from gitleaks' own
// file: `bun scripts/gitleaks-rules.ts PATH/TO/gitleaks/config/gitleaks.toml`. It takes the file of
// one version alone, so that the same rules come out on every machine. For a later one: change
// VERSION and SHA256, run it, and look at what `git diff` shows and `secret-scan.test.ts` says.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { withoutModifiers } from "./without-modifiers.ts";

const VERSION = "v8.28.0";
const SHA256 = "c3bee40d87bb4689e3f5ffa5cc0315f7e6e4d43f4e9388397fca59f29407b432";
const TARGET = join(import.meta.dir, "../daemon/held/gitleaks-rules.json");

const LICENCE = `MIT License

Copyright (c) 2019 Zachary Rice

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and \
associated documentation files (the "Software"), to deal in the Software without restriction, \
including without limitation the rights to use, copy, modify, merge, publish, distribute, \
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is \
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or \
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT \
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND \
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, \
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT \
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Rules that are not taken, and why. What is only for files of certain names isn't, either. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "private-key": "ours wants the key itself between the two marks, or what is left of it",
  "curl-auth-header": "ours for headers reads no text from any `curl` on",
  "curl-auth-user": "ours for passwords in commands reads no text from any `curl` on",
  ...Object.fromEntries(
    [
      "adobe-client-id",
      "asana-client-id",
      "bitbucket-client-id",
      "discord-client-id",
      "flutterwave-public-key",
      "linkedin-client-id",
      "lob-pub-api-key",
      "mailgun-pub-key",
      "messagebird-client-id",
      "new-relic-user-api-id",
      "plaid-client-id",
      "sendbird-access-id",
      "sumologic-access-id",
    ].map((id) => [id, "an id or a public key opens nothing"]),
  ),
};

/** What a pattern is changed by before it is translated: what it has, what it gets, and why. */
const CHANGES: Readonly<Record<string, readonly [has: string, gets: string]>> = {
  // A public key, a fingerprint and the key of a cache open nothing.
  "generic-api-key": ["(?:access|auth|", "(?<!(?:cache|gpg|host|pgp|public)[ _-]?)(?:access|auth|"],
  // Any commit's name in a text about Sourcegraph.
  "sourcegraph-access-token": ["|[a-fA-F0-9]{40}", ""],
  // The name is not the secret.
  "sonar-api-token": ["(login|token)", "(?:login|token)"],
};

/** Rules whose groups are parts of the secret, and would count as all of it. */
const WITHOUT_GROUPS = new Set(["jwt-base64", "microsoft-teams-webhook"]);

/** Names of services, and words, as they are written where they are not just capitalised. */
const SPELLINGS: Readonly<Record<string, string>> = {
  "1password": "1Password",
  ad: "AD",
  api: "API",
  aws: "AWS",
  ca: "CA",
  cicd: "CI/CD",
  clickhouse: "ClickHouse",
  digitalocean: "DigitalOcean",
  easypost: "EasyPost",
  flyio: "Fly.io",
  gcp: "Google Cloud",
  github: "GitHub",
  gitlab: "GitLab",
  hashicorp: "HashiCorp",
  hubspot: "HubSpot",
  huggingface: "Hugging Face",
  jfrog: "JFrog",
  jwt: "JWT",
  launchdarkly: "LaunchDarkly",
  linkedin: "LinkedIn",
  npm: "npm",
  oauth: "OAuth",
  openai: "OpenAI",
  openshift: "OpenShift",
  pat: "access token",
  planetscale: "PlanetScale",
  pypi: "PyPI",
  rapidapi: "RapidAPI",
  readme: "ReadMe",
  rubygems: "RubyGems",
  sendgrid: "SendGrid",
  tf: "Terraform",
  url: "URL",
};

/** What a finding is called where the rule's id does not say it well. */
const KINDS: Readonly<Record<string, string>> = {
  "aws-access-token": "an AWS access key",
  "generic-api-key": "an API key or a token",
  "github-app-token": "a GitHub token",
  "github-fine-grained-pat": "a GitHub token",
  "github-oauth": "a GitHub token",
  "github-pat": "a GitHub token",
  "github-refresh-token": "a GitHub token",
  "gitlab-ptt": "a GitLab trigger token",
  "gitlab-rrt": "a GitLab runner token",
  jwt: "a JSON Web Token",
  "jwt-base64": "a JSON Web Token",
  "npm-access-token": "an npm token",
  "private-key": "a private key",
  "slack-app-token": "a Slack token",
  "slack-bot-token": "a Slack token",
  "slack-legacy-bot-token": "a Slack token",
  "slack-legacy-token": "a Slack token",
  "slack-user-token": "a Slack token",
  "stripe-access-token": "a Stripe key",
  "vault-batch-token": "a Vault token",
  "vault-service-token": "a Vault token",
};

/** What is no secret besides, by itself and by all that the pattern matches. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "generic-api-key": [
    // `Key: "2024-report.pdf"`, as of an object in a store; `KEY_USAGE: TR31_P1_PIN_KEY`.
    String.raw`\.[a-z][a-z0-9]{1,4}$`,
    "^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$",
  ],
};
const ALLOWED_MATCHES: Readonly<Record<string, readonly string[]>> = {
  "generic-api-key": [
    // Ids, the names of commits and contents, and what goes from page to page of a list.
    String.raw`(?:[a-z]Id|_id|-id)["'\s]*[:=]`,
    String.raw`(?i:(?:commit|revision|hash|digest|checksum|etag)["'\s]*[:=])`,
    "(?i:(?:next|page|lock|continuation|sync|client|idempotency)[_-]?token)",
  ],
};

interface Allowlist {
  readonly regexes?: readonly string[];
  readonly stopwords?: readonly string[];
  readonly regexTarget?: "secret" | "match" | "line";
  readonly paths?: readonly string[];
}

interface GivenRule {
  readonly id: string;
  readonly regex?: string;
  readonly path?: string;
  readonly secretGroup?: number;
  readonly entropy?: number;
  readonly keywords?: readonly string[];
  readonly allowlists?: readonly Allowlist[];
}

interface Given {
  readonly allowlist: Allowlist;
  readonly rules: readonly GivenRule[];
}

/** An assignment's beginning; we look at what stands before the name only where we need it. */
const BEFORE_NAME = String.raw`[\w.-]{0,50}?`;
/** What gitleaks wants behind a secret. */
const BEHIND = /\(\?:\[\\x60'"\\s;\]\|\\\\\[nr\]\|\$(?:\|\\b)?\)$/;
/** In prose a secret ends with a sentence, a bracket or a table's cell, too. */
const BEHIND_IN_PROSE = String.raw`(?=[\x60'"\s;,)\]}|<>&*]|[.:!?](?:\s|$)|\\[nr]|$)`;

/** A pattern of Go's RE2 as one of JavaScript's that finds the same, and more ends of a secret. */
function translate(pattern: string): { pattern: string; ignoresCase: boolean } {
  let text = pattern.replaceAll(BEFORE_NAME, "").replaceAll("(?P<", "(?<").replaceAll("\\z", "$");
  text = text.replace(BEHIND, () => BEHIND_IN_PROSE);
  const ignoresCase = text.startsWith("(?i)");
  if (ignoresCase) text = text.slice("(?i)".length);
  return withoutModifiers(wrapFlags(text), ignoresCase);
}

/** RE2's `(?i)` holds to the end of its group, which JavaScript says by a group of its own. */
function wrapFlags(text: string): string {
  const at = text.indexOf("(?i)");
  if (at === -1) return text;
  const rest = text.slice(at + "(?i)".length);
  const end = endOfGroup(rest);
  return wrapFlags(`${text.slice(0, at)}(?i:${rest.slice(0, end)})${rest.slice(end)}`);
}

/** Where the group that a text stands in is closed; its length if it stands in none. */
function endOfGroup(text: string): number {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (inClass) inClass = character !== "]";
    else if (character === "[") inClass = true;
    else if (character === "(") depth++;
    else if (character === ")" && depth-- === 0) return at;
  }
  return text.length;
}

function withoutGroups(pattern: string): string {
  return pattern.replaceAll(/\(\?P?<(?![=!])\w+>|(?<!\\)\((?!\?)/g, "(?:");
}

function kindOf(id: string): string {
  const known = KINDS[id];
  if (known !== undefined) return known;
  const words = id.split("-").map((word, at) => {
    const first = at === 0 ? `${word[0]?.toUpperCase()}${word.slice(1)}` : word;
    return SPELLINGS[word] ?? first;
  });
  const name = words.join(" ");
  return `${/^(?:[AEIO]|npm)/.test(name) ? "an" : "a"} ${name}`;
}

function asJs(regexes: readonly string[]): string[] {
  return regexes.map((regex) => {
    const { pattern, ignoresCase } = translate(regex);
    return ignoresCase ? withoutModifiers(`(?i:${pattern})`, false).pattern : pattern;
  });
}

function ruleOf(given: GivenRule): object {
  const { id, regex = "", entropy, keywords = [], allowlists = [] } = given;
  if (given.secretGroup !== undefined) throw new Error(`${id} names a group of its own`);
  const [has, gets] = CHANGES[id] ?? ["", ""];
  if (!regex.includes(has)) throw new Error(`${id} has no ${has} any more`);
  const changed = regex.replace(has, gets);
  const { pattern, ignoresCase } = translate(
    WITHOUT_GROUPS.has(id) ? withoutGroups(changed) : changed,
  );
  // What is for files of certain names is for none of ours.
  const lists = allowlists.filter(({ paths = [] }) => paths.length === 0);
  const allowedIn = (target: string) =>
    asJs(
      lists.flatMap(({ regexTarget = "secret", regexes = [] }) => {
        return regexTarget === target ? regexes : [];
      }),
    );
  return {
    id,
    kind: kindOf(id),
    keywords: keywords.map((keyword) => keyword.toLowerCase()),
    pattern,
    ...(ignoresCase && { ignores_case: true }),
    ...(entropy !== undefined && { entropy }),
    // A name, a sign and a word: words have no digit, and keys that have none are rare.
    ...(regex.includes(BEFORE_NAME) && { needs_digit: true }),
    ...withSome("allowed", [...allowedIn("secret"), ...asJs(ALLOWED[id] ?? [])]),
    ...withSome("allowed_matches", [...allowedIn("match"), ...asJs(ALLOWED_MATCHES[id] ?? [])]),
    ...withSome("allowed_lines", allowedIn("line")),
    ...withSome(
      "allowed_words",
      lists.flatMap(({ stopwords = [] }) => stopwords),
    ),
  };
}

function withSome(name: string, items: readonly string[]): object {
  return items.length === 0 ? {} : { [name]: items };
}

function isTaken({ id, regex, path }: GivenRule): boolean {
  return regex !== undefined && path === undefined && LEFT_OUT[id] === undefined;
}

function byGenerality(one: GivenRule, other: GivenRule): number {
  return Number(one.id.startsWith("generic")) - Number(other.id.startsWith("generic"));
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("name gitleaks' config/gitleaks.toml");
const text = await Bun.file(path).text();
if (createHash("sha256").update(text).digest("hex") !== SHA256) {
  throw new Error(`this is not the file of gitleaks ${VERSION}`);
}
// What is missing in it makes this script fail, which a person runs.
const given = Bun.TOML.parse(text) as unknown as Given;
const left = Object.keys(LEFT_OUT).filter((id) => !given.rules.some((rule) => rule.id === id));
if (left.length > 0) throw new Error(`there is no rule ${left.join(", ")} any more`);
const rules = {
  source: `https://github.com/gitleaks/gitleaks ${VERSION}, config/gitleaks.toml`,
  licence: LICENCE,
  written_by: "scripts/gitleaks-rules.ts",
  allowed: asJs(given.allowlist.regexes ?? []),
  allowed_words: given.allowlist.stopwords,
  // What knows least comes last.
  rules: given.rules.filter(isTaken).sort(byGenerality).map(ruleOf),
};
await Bun.write(TARGET, `${JSON.stringify(rules, undefined, 2)}\n`);
const format = Bun.spawn(["npx", "biome", "format", "--write", TARGET], { stdout: "ignore" });
if ((await format.exited) !== 0) throw new Error("it could not be formatted");
