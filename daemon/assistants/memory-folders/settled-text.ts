import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { SettledLine } from "../../files/told-lines.ts";
import { withoutLast } from "../../files/unseen-lines.ts";
import { uniteTexts } from "./merge-texts.ts";

/** A text as somebody has decided about some of its lines. */
export function settledText(text: string, settled: readonly SettledLine[]): string {
  return settled.reduce((before, { line, as }) => {
    const stands = plainLines(before).includes(line);
    if (stands === (as === "keep")) return before;
    return as === "keep" ? uniteTexts(before, `${line}\n`) : withoutLast(before, [line]);
  }, text);
}
