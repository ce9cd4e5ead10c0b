import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { commonLines, hasWord } from "../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";
import { asideHere } from "./aside-conflicts.ts";
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
 * a save is read as one of a text that has the lines that were set aside as well.
 */
export function besideAside(
  open: OpenDocument,
  base: CapturedText,
  lines: string,
): SaveBesideAside {
  const conflicts = asideHere(open);
  if (conflicts.length === 0) return { base, lines, added: new Set() };
  const [own, saved] = [linesOf(base), splitLines(lines)];
  const all = linesOf(open.document.captureText());
  const known = new SpanSet(base.spans);
  const isBeside = all.map(({ spans }) => !known.hasAny(spans));
  const stays = new Map(commonLines(own.map(shown), saved.map(withoutMark)));
  const before = new Map<number, readonly CapturedLine[]>();
  for (const { versions } of conflicts) {
    const stood = versions.find(({ isStanding }) => isStanding);
    const put = new Set(versions.flatMap((each) => (each === stood ? [] : splitLines(each.text))));
    const runs = stood?.places.map(({ text }) => onlyRunOf(all, isBeside, splitLines(text))) ?? [];
    const meant = new Set(runs.flatMap((run) => run ?? []));
    for (const [at, more] of linesBehind(own, all, meant).entries()) {
      const next = own[at];
      if (more.length === 0 || !next || !isNobodys(next) || !stays.has(at)) continue;
      if (put.has(shown(next)) && hasWord(shown(next))) before.set(at, more);
    }
  }
  if (before.size === 0) return { base, lines, added: new Set() };
  return { base: withMore(own, before), ...withTexts(saved, before, stays) };
}

function withMore(
  own: readonly CapturedLine[],
  before: ReadonlyMap<number, readonly CapturedLine[]>,
): CapturedText {
  return joinLines(own.flatMap((line, at) => [...(before.get(at) ?? []), line]));
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
