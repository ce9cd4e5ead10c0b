/** One step of a change to a Y.Text, as its `applyDelta` takes it. */
export type DeltaStep =
  | { readonly retain: number }
  | { readonly insert: string }
  | { readonly delete: number };

/**
 * Builds one change of a text from edits in ascending order. Adds a line break where an edit would
 * join two lines, which is possible only beside a last line without a break.
 */
export class DeltaBuilder {
  readonly steps: DeltaStep[] = [];
  readonly #text: string;
  #at = 0;
  #inserted = 0;
  /** The last character of the result so far; a line break at its beginning. */
  #last = "\n";
  #edited = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Inserts at an index of the old text. Returns how many characters were inserted before it. */
  insert(index: number, insert: string): number {
    this.#retain(index);
    if (this.#last !== "\n" && !insert.startsWith("\n")) this.#push("\n");
    const before = this.#inserted;
    if (insert !== "") this.#push(insert);
    return before;
  }

  /** Deletes what is not deleted yet from the old text. */
  delete(index: number, length: number): void {
    this.#retain(index);
    const rest = index + length - this.#at;
    if (rest <= 0) return;
    this.steps.push({ delete: rest });
    this.#at += rest;
    this.#edited = true;
  }

  /** To be called after everything else. */
  finish(): readonly DeltaStep[] {
    this.#separate();
    return this.steps;
  }

  #retain(index: number): void {
    if (index <= this.#at) return;
    this.#separate();
    this.steps.push({ retain: index - this.#at });
    this.#last = this.#text[index - 1] as string;
    this.#at = index;
    this.#edited = false;
  }

  #separate(): void {
    const joins = this.#last !== "\n" && this.#at < this.#text.length;
    if (this.#edited && joins && this.#text[this.#at] !== "\n") this.#push("\n");
  }

  #push(insert: string): void {
    this.steps.push({ insert });
    this.#inserted += insert.length;
    this.#last = insert.at(-1) as string;
    this.#edited = true;
  }
}
