import type * as Y from "yjs";
import { DeltaBuilder } from "../text/text-delta.ts";
import type { SideTexts } from "./kept-edits.ts";

/**
 * Removes surplus blank lines: those between which something stood that is gone. Between two other
 * lines as many stay as a side had below the upper or above the lower one, and at least one; at the
 * end of the text, as many as a side had there. Every machine finds the same ones. To be called
 * after a clean-up, in its transaction.
 */
export function closeDoubledGaps(ytext: Y.Text, { mine, theirs }: SideTexts): void {
  const text = ytext.toString();
  const gaps = gapsOf(text).filter(({ lines }) => lines.length > 0);
  if (gaps.every(({ lines, below }) => lines.length < 2 && below !== "")) return;
  const known = [...gapsOf(mine), ...gapsOf(theirs)];
  const delta = new DeltaBuilder(text);
  for (const { at, above, below, lines } of gaps) {
    // Every other line has its line break in it, so "" can only be an end of the text.
    const beside = known.filter((each) => {
      return below === "" ? each.below === "" : each.above === above || each.below === below;
    });
    const most = Math.max(below === "" ? 0 : 1, ...beside.map((each) => each.lines.length));
    const kept = lines.slice(0, most).join("").length;
    const length = lines.join("").length;
    if (kept < length) delta.delete(at + kept, length - kept);
  }
  ytext.applyDelta([...delta.finish()]);
}

/** The blank lines, none or more, between two others. */
interface Gap {
  readonly at: number;
  readonly above: string;
  readonly below: string;
  readonly lines: readonly string[];
}

function gapsOf(text: string): Gap[] {
  const gaps: Gap[] = [];
  let [at, above, blank]: [number, string, string[]] = [0, "", []];
  const end = (below: string) => {
    const length = blank.join("").length;
    gaps.push({ at, above, below, lines: blank });
    [at, above, blank] = [at + length + below.length, below, []];
  };
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    if (line.trim() === "") blank.push(line);
    else end(line);
  }
  end("");
  return gaps;
}
