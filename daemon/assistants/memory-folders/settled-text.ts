import { joinForm, plainLines, splitForm } from "../../../shared/replica/text/text-form.ts";
import type { SettledLine } from "../../files/arrivals/told-lines.ts";
import { linesWithout, withoutLast } from "../../files/arrivals/unseen-lines.ts";
import { mergeTexts } from "./merge-texts.ts";

/** What is known where somebody has decided about lines of a text. */
interface LineDecisions {
  readonly settled: readonly SettledLine[];
  /** Texts that may say where a line belongs, the nearest first. */
  readonly formers: readonly string[];
  /** Whether a text can be stored. */
  readonly fits: (text: string) => boolean;
}

/** A text after decisions about its lines, and those of them that it has now. */
interface SettledText {
  readonly text: string;
  readonly done: readonly SettledLine[];
}

/** A text as somebody has decided about some of its lines. What does not fit is left undone. */
export function settleText(before: string, { settled, formers, fits }: LineDecisions): SettledText {
  const done: SettledLine[] = [];
  let text = before;
  for (const each of settled) {
    const next = each.as === "drop" ? without(text, each.line) : withLine(text, each.line, formers);
    if (next !== text && !fits(next)) continue;
    text = next;
    done.push(each);
  }
  return { text, done };
}

/** However often it stands there. */
function without(text: string, line: string): string {
  const all = plainLines(text).filter((each) => each === line);
  return all.length === 0 ? text : withoutLast(text, all);
}

/** The line is where a former text had it; at the end where none has. */
function withLine(text: string, line: string, formers: readonly string[]): string {
  if (plainLines(text).includes(line)) return text;
  const former = formers.find((each) => plainLines(each).includes(line));
  if (former !== undefined) {
    const merged = mergeTexts({ base: without(former, line), mine: former, theirs: text }).text;
    const [lines, own] = [plainLines(merged), plainLines(text)];
    const isAll = linesWithout(own, lines).length === 0;
    if (isAll && linesWithout(lines, own).every((each) => each === line)) return merged;
  }
  const { form, lines } = splitForm(text);
  return joinForm(`${lines}${line}\n`, form);
}
