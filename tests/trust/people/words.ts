import type { Dice } from "../simulate/dice.ts";

const VERBS = ["Run", "Check", "Never skip", "Write", "Review", "Keep", "Prefer", "Ask about"];
const THINGS = ["the tests", "migrations", "the changelog", "short names", "error texts", "types"];
const WHEN = ["before a commit", "after a merge", "on every branch", "in small steps", "first"];

/** Two people who type alike within so long type the same line. */
const ALIKE_MS = 8000;

/** Lines that nobody has typed before; each has a tag, so that its fate can be followed. */
export class Words {
  #count = 0;

  constructor(
    readonly name: string,
    readonly dice: Dice,
  ) {}

  line(): string {
    return `- ${this.#tag()} ${this.#phrase()}`;
  }

  heading(): string {
    return `## ${this.#tag()} ${this.dice.pick(THINGS)}`;
  }

  /** The same line in other words: another line. */
  retyped(line: string): string {
    const said = line.replace(/^(- |## )?\S+ /, "").replace(/ \(.*/, "");
    return `- ${this.#tag()} ${said} (${this.dice.pick(WHEN)})`;
  }

  /** What others in the project type at about the same time, too. */
  alike(): string {
    const project = this.name.replace(/[a-z]$/, "");
    return `- ${project}-alike-${Math.floor(Date.now() / ALIKE_MS)} what both of us thought of`;
  }

  #tag(): string {
    return `${this.name}.${this.#count++}`;
  }

  #phrase(): string {
    return `${this.dice.pick(VERBS)} ${this.dice.pick(THINGS)} ${this.dice.pick(WHEN)}`;
  }
}
