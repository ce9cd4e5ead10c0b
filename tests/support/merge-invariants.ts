import type { TextConflictRecord } from "../../shared/replica/conflicts/text-conflict-record.ts";

/** A text of sections, of which each line with a word stands once. */
interface Text {
  readonly lines: readonly string[];
  /** The heading under which each line stands; of a heading, itself. */
  readonly over: ReadonlyMap<string, string>;
}

function read(text: string): Text {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const over = new Map<string, string>();
  let heading = "";
  for (const line of lines) {
    if (line.startsWith("#")) heading = line;
    over.set(line, heading);
  }
  return { lines, over };
}

/** What machines that had one text made of it, and what they came to. */
interface Merge {
  readonly base: string;
  readonly saved: readonly string[];
  readonly merged: string;
  readonly conflicts: readonly TextConflictRecord[];
  /** What a new name's section was called before. */
  readonly former: Readonly<Record<string, string>>;
}

/**
 * What a merge did that nobody meant and no conflict tells: a line that is lost, back or twice, or
 * that stands under a heading under which nobody had it; a gap that is doubled.
 */
export function silentHarms({ base, saved, merged, conflicts, former }: Merge): string[] {
  const [first, texts, now] = [read(base), saved.map(read), read(merged)];
  const told = conflicts.flatMap(({ versions }) =>
    versions.flatMap(({ text }) => text.split("\n")),
  );
  const harms: string[] = [];
  const note = (line: string, what: string) => {
    if (!told.includes(line)) harms.push(`${line} ${what}`);
  };
  for (const line of new Set([first, ...texts].flatMap((each) => each.lines))) {
    const [wasThere, isThere] = [first, now].map((each) => each.over.has(line));
    const isKept = wasThere
      ? texts.every((each) => each.over.has(line))
      : texts.some((each) => each.over.has(line));
    if (isKept && !isThere) note(line, "is lost");
    if (!isKept && isThere) note(line, "is back");
  }
  const firstName = (heading: string) => former[heading] ?? heading;
  for (const line of new Set(now.lines)) {
    if (now.lines.indexOf(line) !== now.lines.lastIndexOf(line)) note(line, "stands twice");
    const headings = [first, ...texts].map((each) => each.over.get(line));
    const isMeant = headings.some((heading) => {
      return heading !== undefined && firstName(heading) === firstName(now.over.get(line) ?? "");
    });
    if (!isMeant) note(line, `stands under ${now.over.get(line)}`);
  }
  if (/\n\n\n|\n\n$/.test(merged)) harms.push("a gap is there that nobody left");
  return harms;
}
