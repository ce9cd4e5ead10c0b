import { entropyOf, isPlaceholder } from "./placeholder.ts";
import type { FoundSecret, SecretRule } from "./secret-rule.ts";
import { isTypeName } from "./type-name.ts";
import { WordIndex } from "./word-index.ts";

/** A rule as `scripts/gitleaks-rules.ts` stored it. Patterns are JavaScript's. */
interface StoredRule {
  readonly id: string;
  readonly kind: string;
  readonly keywords: readonly string[];
  readonly pattern: string;
  readonly ignores_case?: boolean;
  /** The least entropy of a secret, in bits for each character. */
  readonly entropy?: number;
  readonly needs_digit?: boolean;
  /** Patterns of what is no secret: by the secret itself, by the whole match, or by its line. */
  readonly allowed?: readonly string[];
  readonly allowed_matches?: readonly string[];
  readonly allowed_lines?: readonly string[];
  /** A match that contains one of these words is no secret. */
  readonly allowed_words?: readonly string[];
}

interface StoredRules {
  readonly allowed: readonly string[];
  readonly allowed_words: readonly string[];
  readonly rules: readonly StoredRule[];
}

const LINE_LENGTH_MAX = 1000;

/** gitleaks' rules; see `gitleaks-rules.json` for their version and licence. */
export async function loadGitleaksRules(): Promise<SecretRule[]> {
  const stored: StoredRules = (await import("./gitleaks-rules.json")).default;
  const { rules, allowed, allowed_words: words } = stored;
  const isAllowed = anyOf(allowed);
  const index = new WordIndex(words);
  return rules.map((rule) => toRule(rule, (secret) => isAllowed(secret) || index.isIn(secret)));
}

function toRule(stored: StoredRule, isAllowed: (secret: string) => boolean): SecretRule {
  const { id, kind, keywords, entropy = 0, needs_digit: needsDigit = false } = stored;
  // Compiled on first use, because most rules are never needed.
  const lazy = once(() => compile(stored));
  return {
    id,
    kind,
    keywords,
    get pattern() {
      return lazy().pattern;
    },
    accepts(found) {
      const { secret } = found;
      if (needsDigit && !/\d/.test(secret)) return false;
      if (entropyOf(secret) <= entropy || isPlaceholder(secret) || isAllowed(secret)) return false;
      if (isTypeName(secret)) return false;
      return !lazy().allows(found);
    },
  };
}

function compile(stored: StoredRule) {
  const { pattern, ignores_case: ignoresCase = false } = stored;
  const ofSecret = anyOf(stored.allowed);
  const ofMatch = anyOf(stored.allowed_matches);
  const ofLine = anyOf(stored.allowed_lines);
  const words = new WordIndex(stored.allowed_words ?? []);
  return {
    pattern: new RegExp(pattern, ignoresCase ? "gi" : "g"),
    allows: (found: FoundSecret) =>
      ofSecret(found.secret) ||
      ofMatch(withNameBefore(found)) ||
      ofLine(lineOf(found)) ||
      words.isIn(found.secret),
  };
}

/**
 * The match, extended to the left to the beginning of the name that the pattern found a part of. Of
 * a long one its beginning: the patterns for it are about the name, and are slow on a long secret.
 */
function withNameBefore({ text, at, match }: FoundSecret): string {
  const before = /[\w.-]{0,50}$/.exec(text.slice(Math.max(0, at - 50), at))?.[0] ?? "";
  return before + match.slice(0, LINE_LENGTH_MAX);
}

function lineOf({ text, at }: FoundSecret): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const line = text.slice(Math.max(start, at - LINE_LENGTH_MAX), end === -1 ? undefined : end);
  return line.slice(0, 2 * LINE_LENGTH_MAX);
}

function anyOf(patterns: readonly string[] = []): (text: string) => boolean {
  const compiled = once(() => patterns.map((pattern) => new RegExp(pattern)));
  return (text) => compiled().some((pattern) => pattern.test(text));
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}
