import type { TextConflictRecord } from "../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { commonLines, hasWord } from "../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";
import { linesBehind, onlyRunOf } from "./document-lines.ts";
import { SpanSet } from "./span-set.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "./text-lines.ts";

/** A save with the lines that git has set aside, at the place where the document has them. */
export interface SaveBesideAside {
  readonly base: CapturedText;
  readonly lines: string;
  /** Which of the lines the file has not, by index. */
  readonly added: ReadonlySet<number>;
}

/**
 * What git put in the place of lines that it set aside stands in the file alone, and the document
 * has those lines there. As long as the save leaves that be, both are one place about which there
 * is a conflict already: what is written below it comes below it, and is no version of it. So such
 * a save is read as one of a text that has the lines that were set aside as well. Whoever types
 * these again, above or below, wants them back: then the save has them itself.
 */
export function besideAside(
  open: OpenDocument,
  {
    base,
    lines,
    aside: conflicts,
  }: {
    readonly base: CapturedText;
    readonly lines: string;
    readonly aside: readonly TextConflictRecord[];
  },
): SaveBesideAside {
  if (conflicts.length === 0) return { base, lines, added: new Set() };
  const [own, saved] = [linesOf(base), splitLines(lines)];
  const all = linesOf(open.document.captureText());
  const known = new SpanSet(base.spans);
  const isBeside = all.map(({ spans }) => !known.hasAny(spans));
  const stays = new Map(commonLines(own.map(shown), saved.map(withoutMark)));
  const before = new Map<number, readonly CapturedLine[]>();
  const missing = new Map<number, readonly CapturedLine[]>();
  for (const { versions } of conflicts) {
    const stood = versions.find(({ isStanding }) => isStanding);
    const put = new Set(versions.flatMap((each) => (each === stood ? [] : splitLines(each.text))));
    const runs = stood?.places.map(({ text }) => onlyRunOf(all, isBeside, splitLines(text))) ?? [];
    const meant = new Set(runs.flatMap((run) => run ?? []));
    for (const [at, more] of linesBehind(own, all, meant).entries()) {
      const next = own[at];
      if (more.length === 0 || !next || !isNobodys(next) || !stays.has(at)) continue;
      if (!put.has(shown(next)) || !hasWord(shown(next))) continue;
      const typed = typedBeside(saved, stays, { at, texts: more.map(shown) });
      before.set(typed === "below" ? at + 1 : at, more);
      if (!typed) missing.set(at, more);
    }
  }
  if (before.size === 0) return { base, lines, added: new Set() };
  return { base: withMore(own, before), ...withTexts(saved, missing, stays) };
}

/** Where new lines of the save say this again, right beside the base's line at `at`. */
function typedBeside(
  saved: readonly string[],
  stays: ReadonlyMap<number, number>,
  { at, texts }: { readonly at: number; readonly texts: readonly string[] },
): "above" | "below" | undefined {
  const known = new Set(stays.values());
  const put = stays.get(at) ?? 0;
  const [first, end] = [-1, 1].map((step) => {
    let next = put + step;
    while (next >= 0 && next < saved.length && !known.has(next)) next += step;
    return next;
  }) as [number, number];
  const says = (from: number, to: number) => {
    const lines = saved.slice(from, to).map(withoutMark);
    return lines.some((_, nth) => texts.every((text, i) => lines[nth + i] === text));
  };
  if (says(first + 1, put)) return "above";
  return says(put + 1, end) ? "below" : undefined;
}

function withMore(
  own: readonly CapturedLine[],
  before: ReadonlyMap<number, readonly CapturedLine[]>,
): CapturedText {
  const lines = own.flatMap((line, at) => [...(before.get(at) ?? []), line]);
  return joinLines([...lines, ...(before.get(own.length) ?? [])]);
}

function withTexts(
  saved: readonly string[],
  before: ReadonlyMap<number, readonly CapturedLine[]>,
  stays: ReadonlyMap<number, number>,
): Pick<SaveBesideAside, "lines" | "added"> {
  const places = new Map([...before].map(([at, more]) => [stays.get(at), more]));
  const added = new Set<number>();
  const lines: string[] = [];
  for (const [at, line] of saved.entries()) {
    for (const { text } of places.get(at) ?? []) {
      added.add(lines.length);
      lines.push(text);
    }
    lines.push(line);
  }
  return { lines: lines.join(""), added };
}

function isNobodys({ spans }: CapturedLine): boolean {
  return spans.every(({ client }) => client === null);
}

function shown({ text }: CapturedLine): string {
  return withoutMark(text);
}
