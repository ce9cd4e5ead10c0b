/** A text that a source file has once, and what stands there instead in this process alone. */
export interface Replacement {
  /** From the checkout's folder. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Throws unless `from` stands in `text` exactly once. */
export function replaceOnce(text: string, { file, from, to }: Replacement): string {
  const parts = text.split(from);
  if (parts.length !== 2) {
    throw new Error(
      `${file} has ${parts.length - 1} times the text that is to be replaced: ${from}`,
    );
  }
  return parts.join(to);
}
