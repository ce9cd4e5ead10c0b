import { countNamed, type Form, putTogether, takeApart } from "./lines.ts";

/** What somebody has in front of them: an editor's buffer, or an assistant's version. */
export class Draft {
  lines: string[];
  form: Form;
  /** Lines that changed places with others since the last save. */
  readonly moved = new Set<string>();
  /** What was done since the last save. */
  readonly done: string[] = [];
  /** How often each line was in the text that was opened or saved last. */
  seen: ReadonlyMap<string, number>;

  constructor(text: string) {
    const { lines, form } = takeApart(text);
    this.lines = lines;
    this.form = form;
    this.seen = countNamed(text);
  }

  get dirty(): boolean {
    return this.done.length > 0;
  }

  text(): string {
    return putTogether(this.lines, this.form);
  }

  /** It is in the file: from here on this is what was seen last. */
  saved(): void {
    this.seen = countNamed(this.text());
    this.moved.clear();
    this.done.length = 0;
  }
}
