/** How a kind of secret is known in a text. */
export interface SecretRule {
  readonly id: string;
  /** What it looks like, in words that follow "looks like". */
  readonly kind: string;
  /** In small letters: the pattern matches only in texts that have one of these, in any case. */
  readonly keywords: readonly string[];
  /**
   * With the flag `g`. The secret is its first group that takes part, else all that it matches. It
   * takes no more than linear time, for what it reads may be hostile.
   */
  readonly pattern: RegExp;
  /** Whether what the pattern has found can be a secret. */
  accepts(found: FoundSecret): boolean;
}

/** What a rule's pattern has found. */
export interface FoundSecret {
  readonly secret: string;
  /** All that the pattern matched, the secret in it. */
  readonly match: string;
  /** The text, and where the match begins in it. */
  readonly text: string;
  readonly at: number;
}
