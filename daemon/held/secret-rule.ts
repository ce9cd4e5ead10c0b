/** How one kind of secret is recognised. */
export interface SecretRule {
  readonly id: string;
  /** What it looks like, in words that follow "looks like". */
  readonly kind: string;
  /**
   * In small letters. The pattern can match only a text that contains one of these, in any case.
   */
  readonly keywords: readonly string[];
  /**
   * With the flag `g`. The secret is the first group that matched, else the whole match. It must
   * take linear time, because the text may be hostile.
   */
  readonly pattern: RegExp;
  /** It finds only what has a line to itself: in a table it would take words for secrets. */
  readonly needsLine?: boolean;
  /** What it finds is private for another reason: a mark that allows secrets allows none of it. */
  readonly isNoSecret?: boolean;
  /** Whether a match of the pattern can be a secret. */
  accepts(found: FoundSecret): boolean;
}

/** A match of a rule's pattern. */
export interface FoundSecret {
  readonly secret: string;
  /** The whole match, which contains the secret. */
  readonly match: string;
  /** The text, and where in it the match begins. */
  readonly text: string;
  readonly at: number;
}
