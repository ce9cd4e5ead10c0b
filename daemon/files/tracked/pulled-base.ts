import { commonLines } from "../../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import { SpanSet } from "../lines/span-set.ts";
import {
  type CapturedLine,
  joinLines,
  linesOf,
  nobodysLine,
  splitLines,
} from "../lines/text-lines.ts";

/** The versions that git put a text together from. */
export interface PulledFrom {
  /** Lines of these that the text lacks were removed. Earlier versions take precedence. */
  readonly from: readonly CapturedText[];
  /**
   * Lines that the text shares with these are theirs. Lines of these that it lacks mean nothing.
   */
  readonly alsoSeen?: readonly CapturedText[];
  readonly lines: string;
}

/**
 * The text that a text from git is an edit of. Each line that it shares with a version (longest
 * common subsequence) belongs to that version; lines that only the versions have were removed.
 */
export function pulledBase({ from, alsoSeen = [], lines }: PulledFrom): CapturedText {
  const after = splitLines(lines);
  const known: (CapturedLine | undefined)[] = after.map(() => undefined);
  const removed: CapturedLine[][] = [...after, ""].map(() => []);
  const matches = [...from, ...alsoSeen].map((version) => matchOf(linesOf(version), after));
  const used = new Set<string>();
  for (const { common } of matches) {
    for (const [at, line] of common) {
      // A line that the document has is preferred to one that only a version has.
      if (known[at] && (isInDocument(known[at]) || !isInDocument(line))) continue;
      // Versions may disagree where a line of the document stands, and it stands there once.
      const name = nameOf(line);
      if (name === undefined || !used.has(name)) known[at] = line;
      else known[at] ??= nobodysLine(line.text);
      if (name !== undefined) used.add(name);
    }
  }
  const taken = known.flatMap((line) => line?.spans ?? []);
  for (const { beyond } of matches.slice(0, from.length)) {
    const known = new SpanSet(taken);
    for (const [at, line] of beyond) {
      if (known.hasAny(line.spans)) continue;
      removed[at]?.push(line);
      taken.push(...line.spans);
    }
  }
  return joinLines(removed.flatMap((gone, at) => [...gone, ...(known[at] ? [known[at]] : [])]));
}

function isInDocument(line: CapturedLine): boolean {
  return nameOf(line) !== undefined;
}

/** Tells a line of the document from all its others; undefined for one that it does not have. */
function nameOf({ spans }: CapturedLine): string | undefined {
  const own = spans.find(({ client }) => client !== null);
  return own && `${own.client} ${own.clock}`;
}

/** The shared lines by their index in `after`, and the others by where they would stand there. */
function matchOf(before: readonly CapturedLine[], after: readonly string[]) {
  const pairs = new Map(
    commonLines(
      before.map(({ text }) => withoutMark(text)),
      after.map(withoutMark),
    ),
  );
  const common: [number, CapturedLine][] = [];
  const beyond: [number, CapturedLine][] = [];
  let next = 0;
  for (const [at, line] of before.entries()) {
    const twin = pairs.get(at);
    if (twin === undefined) beyond.push([next, line]);
    else {
      common.push([twin, line]);
      next = twin + 1;
    }
  }
  return { common, beyond };
}
