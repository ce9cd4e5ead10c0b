/** Whose: of the account of this token alone; of all without one. */
export interface OfToken {
  readonly token?: string | undefined;
}
