import type { Machine } from "../../support/machine.ts";
import { isNamed, takeApart } from "./lines.ts";

interface Shown {
  readonly id: string;
  readonly kind: string;
  readonly project_id: string | null;
}

/** Every conflict that any machine has shown so far, for only so many are kept. */
export class ConflictBook {
  readonly ids = new Set<string>();
  /** Of a document that lost most of its lines. */
  readonly deletions = new Set<string>();
  readonly #lines = new Set<string>();

  /** Whether a conflict's versions have this line. Lines have tags, so its project is clear. */
  shows(line: string): boolean {
    return this.#lines.has(line);
  }

  async look(machines: readonly Machine[]): Promise<void> {
    for (const machine of machines) {
      const shown = JSON.parse(await machine.memsync("conflicts", "--json")) as Shown[];
      for (const conflict of shown) this.#note(conflict);
    }
  }

  #note(conflict: Shown): void {
    if (conflict.kind === "deletion") {
      this.deletions.add(conflict.id);
      return;
    }
    this.ids.add(conflict.id);
    for (const text of textsIn(conflict)) {
      for (const line of takeApart(text).lines) if (isNamed(line)) this.#lines.add(line);
    }
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
