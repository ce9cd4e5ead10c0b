import { diffLines } from "../../shared/replica/text/line-diff.ts";
import type { World } from "../../shared/world.ts";
import type { FileContent } from "./file-edit.ts";
import { type FileState, fileText } from "./file-state.ts";
import { contentLines } from "./text-lines.ts";

/** A text that may be half written is taken once it has stood unchanged for this long. */
export const UNFINISHED_MS = 1000;
/** And at the latest after this time, since a program may never stop writing. */
export const UNFINISHED_MS_MAX = 10_000;

/**
 * Whether a program may still be writing this text in place of the former one: it ends inside a
 * line and the former did not, or the former's end is missing and less stands in its place. So a
 * text looks that a program writes in pieces, before the last of them.
 */
export function isUnfinished(former: FileState | undefined, { content }: FileContent): boolean {
  // An empty file has a longer wait of its own.
  if (content.trim() === "") return false;
  const before = former ? fileText(former) : "";
  if (endsInsideLine(content) && !endsInsideLine(before)) return true;
  if (before !== content && before.startsWith(content)) return true;
  const lines = contentLines(before);
  const last = diffLines(lines, contentLines(content)).at(-1);
  return last !== undefined && last.at + last.removed === lines.length && last.removed > last.added;
}

/**
 * Those of the texts, oldest first, that end inside a line and that the next one only continues.
 * They say nothing of their own, unless the file's last line never had an end.
 */
export function findBeginnings<Text extends Pick<FileContent, "content">>(
  texts: readonly Text[],
  last: Pick<FileContent, "content"> | undefined,
  former: FileState | undefined,
): readonly Text[] {
  if (former && endsInsideLine(fileText(former))) return [];
  return texts.filter(({ content }, at) => {
    const next = texts[at + 1] ?? last;
    return endsInsideLine(content) && next?.content.startsWith(content) === true;
  });
}

function endsInsideLine(text: string): boolean {
  return text !== "" && !text.endsWith("\n");
}

/** Measures how long a text that may be half written has stood unchanged. */
export class UnfinishedText {
  readonly #world: Pick<World, "monotonic">;
  /** By the steady clock. */
  #seen: { readonly hash: string; readonly at: number; readonly first: number } | undefined;

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** For how many more milliseconds the text is not to be taken. */
  left(former: FileState | undefined, file: FileContent): number {
    if (file.hash === former?.hash || !isUnfinished(former, file)) return this.#end();
    const now = this.#world.monotonic();
    const isSame = this.#seen?.hash === file.hash;
    const first = this.#seen?.first ?? now;
    const at = isSame && this.#seen ? this.#seen.at : now;
    this.#seen = { hash: file.hash, at, first };
    const left = Math.min(at + UNFINISHED_MS, first + UNFINISHED_MS_MAX) - now;
    return left > 0 ? left : this.#end();
  }

  #end(): number {
    this.#seen = undefined;
    return 0;
  }
}
