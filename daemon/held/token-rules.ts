import { isObject, parseJson } from "../../shared/json.ts";
import { entropyOf, isPlaceholder } from "./placeholder.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";
import { isWordy, standsForSecret } from "./wordy.ts";

/** In bits per character. Words and repetitions have fewer. */
const RANDOM_ENTROPY = 3;

/** Keys of one service begin with the same letters, but their lengths change over the years. */
const KEYS: readonly (readonly [id: string, kind: string, keyword: string, pattern: RegExp])[] = [
  ["anthropic-key", "an Anthropic API key", "sk-ant-", /(?<![\w-])sk-ant-[\w-]{20,300}/g],
  [
    "openai-key",
    "an OpenAI API key",
    "sk-",
    /(?<![\w-])sk-(?:proj|svcacct|admin|none|service)-[\w-]{20,300}/gi,
  ],
  ["openrouter-key", "an OpenRouter API key", "sk-or-", /(?<![\w-])sk-or-[\w-]{20,300}/g],
  ["sk-key", "an API key", "sk-", /(?<![\w-])sk-[A-Za-z0-9][\w-]{19,300}/g],
  ["elevenlabs-key", "an ElevenLabs API key", "sk_", /(?<![\w-])sk_[\da-f]{48}(?![\w-])/g],
];

/** What a service made at random, and knows by its form alone: keys, signed tokens, signatures. */
export const TOKEN_RULES: readonly SecretRule[] = [
  ...KEYS.map(([id, kind, keyword, pattern]) => ({
    id,
    kind,
    keywords: [keyword],
    pattern,
    accepts: ({ secret }: FoundSecret) => isRandomKey(secret),
  })),
  {
    id: "signed-token",
    kind: "a JSON Web Token",
    keywords: ["eyj"],
    // Three parts are signed, and five are encrypted. Each can be short; the first one tells.
    pattern:
      /(?<![\w-])eyJ[\w-]{8,2000}\.[\w-]{0,8000}\.[\w-]{8,2000}(?:\.[\w-]{8,8000}\.[\w-]{8,200})?/g,
    accepts: ({ secret }) => isSignedToken(secret),
  },
  {
    id: "azure-signature",
    kind: "an Azure shared access signature",
    keywords: ["sig="],
    pattern: /(?<![\w-])sig=((?:[A-Za-z0-9/+]|%2[bf]){43,130}(?:%3d|=)?)(?![\w%/+])/gi,
    accepts: ({ secret }) => isSignature(secret),
  },
  {
    id: "signed-url",
    kind: "a signed URL",
    keywords: ["x-amz-signature", "x-goog-signature"],
    pattern: /x-(?:amz|goog)-signature=([\da-f]{64,1024})(?![\w%])/gi,
    accepts: ({ secret }) => entropyOf(secret) > RANDOM_ENTROPY && !standsForSecret(secret),
  },
];

const BEGINNING = /^sk[-_](?:[A-Za-z]{2,10}\d{0,2}[-_])*/;
/** After its beginning. `sk-spinner-v2` has less. */
const KEY_LENGTH_MIN = 16;

/** Classes of style sheets and packages begin with `sk-`, too; they are made of words. */
function isRandomKey(key: string): boolean {
  const value = key.replace(BEGINNING, "").replace(/-+$/, "");
  return (
    value.length >= KEY_LENGTH_MIN &&
    /\d/.test(value) &&
    entropyOf(value) > RANDOM_ENTROPY &&
    !standsForSecret(value) &&
    !isWordy(value)
  );
}

/** Whether its first part says by which algorithm it was signed, and whether it was. */
function isSignedToken(token: string): boolean {
  const [header = "", ...parts] = token.split(".");
  const signature = parts.at(-1) ?? "";
  if (isPlaceholder(signature) || entropyOf(parts.join("")) <= RANDOM_ENTROPY) return false;
  try {
    const said = parseJson(Buffer.from(header, "base64url").toString());
    const { alg } = isObject(said) ? said : {};
    return typeof alg === "string" && alg.toLowerCase() !== "none";
  } catch {
    return false;
  }
}

/** A signature by SHA-256, in base64. */
const SIGNATURE_LENGTH = 43;

function isSignature(value: string): boolean {
  const base64 = value
    .replace(/%2b/gi, "+")
    .replace(/%2f/gi, "/")
    .replace(/(?:%3d|=)$/i, "");
  return (
    base64.length === SIGNATURE_LENGTH &&
    entropyOf(base64) > RANDOM_ENTROPY &&
    !standsForSecret(base64)
  );
}
