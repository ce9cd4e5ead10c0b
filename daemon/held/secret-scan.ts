import type { lintSource, SecretLintSourceOptions } from "@secretlint/core";

type Config = SecretLintSourceOptions["options"]["config"];
type Message = Awaited<ReturnType<typeof lintSource>>["messages"][number];

/** A stretch of a text that looks like a secret. */
export interface Secret {
  /** What it looks like, in words that follow "looks like". */
  readonly kind: string;
  /** The secret itself: never to be logged, shown or stored beside its text. */
  readonly text: string;
  /** Where it begins; the first line is 1. */
  readonly line: number;
}

/** In a line, or in the line above, it says that what looks like a secret there is none. */
export const ALLOW_MARK = "memsync:allow-secret";

const PRESET = "@secretlint/secretlint-rule-preset-recommend";
const RULE = "@secretlint/secretlint-rule-";

/** A password that opens something on this machine alone is in many a project's instructions. */
const ON_THIS_MACHINE = String.raw`/@(localhost|127\.0\.0\.1|\[::1\])([:\/?]|$)/i`;

/** An account's number opens nothing. */
const NO_SECRETS = new Set(["AWSAccountID"]);

/** By the scanner's rule; another one is called by its own name. */
const KINDS: Readonly<Record<string, string>> = {
  "1password": "a 1Password token",
  anthropic: "an Anthropic API key",
  aws: "an AWS access key",
  basicauth: "a password in a URL",
  "database-connection-string": "a database's password",
  databricks: "a Databricks token",
  docker: "a Docker token",
  figma: "a Figma token",
  gcp: "a Google Cloud key",
  github: "a GitHub token",
  gitlab: "a GitLab token",
  grafana: "a Grafana token",
  groq: "a Groq API key",
  "hashicorp-vault": "a Vault token",
  huggingface: "a Hugging Face token",
  linear: "a Linear API key",
  notion: "a Notion token",
  npm: "an npm token",
  openai: "an OpenAI API key",
  privatekey: "a private key",
  sendgrid: "a SendGrid API key",
  shopify: "a Shopify token",
  slack: "a Slack token",
  vercel: "a Vercel token",
};

type Scanner = (text: string) => Promise<readonly Message[]>;

let scanner: Promise<Scanner> | undefined;

/**
 * A text is scanned in pieces of so many characters that share some, for a private key may lie
 * across a border, and the scan ends with the piece that has brought this many secrets.
 */
const PIECE_LENGTH = 128 * 1024;
const SHARED_LENGTH = 16 * 1024;
const SECRETS_MAX = 100;

/**
 * What in a text looks like a secret, in order of place, by the recommended rules of secretlint.
 * They are loaded at the first call. A text of 1 MiB takes some tens of milliseconds, a hostile one
 * some hundred. Of many secrets not all are found, but always some that `unknownAmong` leaves of
 * those it is given, if there are any.
 */
export async function findSecrets(
  text: string,
  unknownAmong: (found: readonly Secret[]) => Promise<readonly Secret[]> = async (all) => all,
): Promise<Secret[]> {
  scanner ??= loadScanner().catch((thrown) => {
    scanner = undefined;
    throw thrown;
  });
  const scan = await scanner;
  const found = new Map<string, Secret>();
  let line = 1;
  for (let at = 0; at === 0 || at + SHARED_LENGTH < text.length; ) {
    const piece = text.slice(at, at + PIECE_LENGTH);
    for (const secret of await unknownAmong(await secretsIn(scan, piece, line))) {
      found.set(`${secret.line} ${secret.text}`, secret);
    }
    if (found.size >= SECRETS_MAX) break;
    const next = at + PIECE_LENGTH - SHARED_LENGTH;
    line += text.slice(at, next).split("\n").length - 1;
    at = next;
  }
  return [...found.values()].sort((one, other) => one.line - other.line);
}

async function secretsIn(scan: Scanner, piece: string, firstLine: number): Promise<Secret[]> {
  const messages = (await scan(piece)).filter(({ messageId }) => !NO_SECRETS.has(messageId));
  if (messages.length === 0) return [];
  const lines = piece.split("\n");
  return messages
    .filter(({ loc }) => !isAllowedAt(lines, loc.start.line))
    .map((message) => ({
      kind: kindOf(message.ruleId),
      text: secretIn(message, piece),
      line: firstLine + message.loc.start.line - 1,
    }));
}

async function loadScanner(): Promise<Scanner> {
  const [{ lintSource }, { creator }, { secretLintProfiler }] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/secretlint-rule-preset-recommend"),
    import("@secretlint/profiler"),
  ]);
  // It keeps some hundred marks of each scan for good, and looks through all of them at the next.
  secretLintProfiler.mark = () => undefined;
  const config: Config = {
    rules: [
      {
        id: PRESET,
        rule: creator,
        rules: [
          { id: `${RULE}database-connection-string`, options: { allows: [ON_THIS_MACHINE] } },
        ],
      },
    ],
  };
  return async (text) => {
    // The scanner's own marks are often written about, and one turns off all that follows.
    const content = text.replaceAll("secretlint-", "secretlint ");
    const source = { filePath: "text.md", ext: ".md", contentType: "text", content } as const;
    const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
    return messages;
  };
}

function isAllowedAt(lines: readonly string[], line: number): boolean {
  return [lines[line - 1], lines[line - 2]].some((each) => each?.includes(ALLOW_MARK));
}

function kindOf(ruleId: string): string {
  const name = ruleId.slice(RULE.length);
  return KINDS[name] ?? `a secret (${name})`;
}

/** Some rules find the place of what stands around a secret, but each names the secret itself. */
function secretIn({ data, range: [from, to] }: Message, text: string): string {
  const named = Object.values((data ?? {}) as Record<string, unknown>);
  return named.find((each): each is string => typeof each === "string") ?? text.slice(from, to);
}
