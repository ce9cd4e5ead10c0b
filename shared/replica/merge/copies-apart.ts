import { listOpenConflicts } from "../conflicts/shared-version.ts";
import type { NewTextConflict } from "../conflicts/text-conflict-record.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { OpenDocument } from "../store/open-document.ts";
import type { WriteContext } from "../store/write-context.ts";
import { findCodeBlocks } from "../text/code-blocks.ts";
import { headingsIn } from "../text/headings.ts";
import { LinesByWord } from "../text/likeness.ts";
import { isTelling, lineAhead, neighbourStart } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import type { WritingSide } from "./moved-lines.ts";
import { hunksOf } from "./side-hunks.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";
import { recordConflicts } from "./text-conflicts.ts";

/** Lines of a side's text, [from, to). */
type Stretch = readonly [from: number, to: number];

/** Copies of what stood at several places: those that each side left. */
type CopiesApart = Readonly<Record<WritingSide, readonly LeftCopy[]>>;

/** Lines that one side left where they stood, and the other deleted there. */
interface LeftCopy {
  /** Whole lines, each with its line break. */
  readonly text: string;
  /** Where they would stand; see `PlacedLines`. */
  readonly behind: string;
  readonly ahead: string;
  readonly after: number;
  /** The lines among them that stand nowhere any more. */
  readonly lost: readonly string[];
}

/**
 * Tells what stood at several places, and stands nowhere since each side has deleted other copies:
 * whoever deletes a line that stands elsewhere as well may want it once. Nobody can say whether
 * both did, or wanted to be rid of all. A section that went with such a line, and a block of code,
 * is told whole. To be called when the two have met, before anything is put elsewhere. `lines`: of
 * all three texts, with what each side took out by itself.
 */
export async function tellCopiesApart<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  lines: readonly SideLine[],
): Promise<void> {
  const versions = listOpenConflicts(open.document).flatMap((each) => each.versions);
  const told = new Set(versions.flatMap(({ text }) => plainLines(text)));
  const found = findCopiesApart(lines, told).map((copies) => conflictOf(open, copies));
  await recordConflicts(context, open, found);
}

/**
 * The conflict about what each side has left. Who deleted a copy is known only if it was this
 * machine.
 */
function conflictOf({ author }: OpenDocument, { mine, theirs }: CopiesApart): NewTextConflict {
  const versionOf = (left: readonly LeftCopy[]) => ({
    text: left.map(({ text }) => text).join(""),
    places: left.map(({ lost: _, after, ...place }) => ({ ...place, ...(after > 0 && { after }) })),
  });
  const versions = [
    { ...versionOf(mine), ...author },
    { ...versionOf(theirs), machine: undefined },
  ] as const;
  return { kind: "both", versions };
}

/** `told`: the lines of open conflicts. */
function findCopiesApart(lines: readonly SideLine[], told: ReadonlySet<string>): CopiesApart[] {
  const [byMe, byThem] = [goneBy(lines, "mine"), goneBy(lines, "theirs")];
  const standing = new Set(lines.filter((line) => line.to > line.from).map(plain));
  const isLost = (text: string) =>
    byThem.has(text) && isTelling(text) && !standing.has(text) && !told.has(text);
  const lost = new Set([...byMe].filter(isLost));
  if (lost.size === 0) return [];
  // A line that a side has mended still stands, in another form.
  const former = new LinesByWord(lines.filter(({ side }) => side === "base"));
  const hunks = [...hunksOf(lines, "mine"), ...hunksOf(lines, "theirs")];
  for (const { removed, added } of hunks) {
    const made = added.flatMap(({ text }) => former.mostAlike(text));
    for (const line of made) if (removed.includes(line)) lost.delete(plain(line));
  }
  return groupsOf({
    mine: copiesLeft(lines, "mine", lost),
    theirs: copiesLeft(lines, "theirs", lost),
  });
}

/** The words of the lines that only this side has deleted. */
function goneBy(lines: readonly SideLine[], by: WritingSide): ReadonlySet<string> {
  return new Set(lines.filter((line) => isGoneBy(line, by)).map(plain));
}

function isGoneBy({ side, gone }: SideLine, by: WritingSide): boolean {
  return side === "base" && gone[by] && !gone[otherThan(by)];
}

function otherThan(by: WritingSide): WritingSide {
  return by === "mine" ? "theirs" : "mine";
}

/** Groups all copies that share a lost line, directly or over other copies. */
function groupsOf({ mine, theirs }: CopiesApart): CopiesApart[] {
  const groups: CopiesApart[] = [];
  const left = new Set([...mine, ...theirs]);
  for (const first of mine) {
    if (!left.has(first)) continue;
    const said = new Set(first.lost);
    const own = new Set<LeftCopy>();
    for (let before = -1; before < own.size; ) {
      before = own.size;
      for (const copy of left) {
        if (!copy.lost.some((line) => said.has(line))) continue;
        own.add(copy);
        for (const line of copy.lost) said.add(line);
      }
    }
    for (const copy of own) left.delete(copy);
    const isOwn = (copy: LeftCopy) => own.has(copy);
    groups.push({ mine: mine.filter(isOwn), theirs: theirs.filter(isOwn) });
  }
  return groups;
}

/** The copies that a side left of lost lines, each with what the other side deleted with it. */
function copiesLeft(lines: readonly SideLine[], by: WritingSide, lost: ReadonlySet<string>) {
  const own = lines.filter((line) => isOfSide(line, by));
  const texts = own.map(plain);
  const isGone = (at: number) => at < own.length && isGoneBy(own[at] as SideLine, otherThan(by));
  const [levels, blocks] = [headingsIn(texts), findCodeBlocks(texts)];
  const found: LeftCopy[] = [];
  for (let first = 0, end = 0; first < own.length; first = end) {
    end = first + 1;
    if (!isGone(first)) continue;
    const level = levels.get(first);
    while (isGone(end) && !beginsPart(levels.get(end), level)) end++;
    const isSaid = (at: number) => texts[at]?.trim() !== "";
    const part = [...own.keys()].slice(first, end);
    const meant = part.filter((at) => lost.has(texts[at] ?? ""));
    const [from, last] =
      level === undefined ? [meant[0], meant.at(-1)] : [first, part.findLast(isSaid)];
    if (meant.length === 0 || from === undefined || last === undefined) continue;
    const run = withBlocks(
      [from, last + 1],
      blocks.filter(([at, to]) => first <= at && to <= end),
    );
    const next = part.slice(run[1] - first).findIndex(isSaid);
    const after = next === -1 ? end - run[1] : next;
    found.push({
      ...placed(lines, own.slice(...run)),
      after,
      lost: meant.map((at) => texts[at] ?? ""),
    });
  }
  return found;
}

/** Whether a heading begins another part than one that begins so. */
function beginsPart(level: number | undefined, part: number | undefined): boolean {
  return level !== undefined && (part === undefined || level <= part);
}

function withBlocks([from, to]: Stretch, blocks: readonly Stretch[]): Stretch {
  const over = blocks.filter((block) => block[0] < to && from < block[1]);
  return [Math.min(from, ...over.map(([at]) => at)), Math.max(to, ...over.map(([, end]) => end))];
}

/** Lines that are gone, and what stands around their place. */
function placed(lines: readonly SideLine[], run: readonly SideLine[]) {
  const at = lines.indexOf(run[0] as SideLine);
  const isStanding = (line: SideLine) => line.to > line.from;
  const before = lines.slice(0, at).filter(isStanding).map(broken);
  const rest = lines.slice(at).filter(isStanding).map(broken);
  return {
    text: run.map(broken).join(""),
    behind: before.slice(neighbourStart([...before, ...rest], before.length)).join(""),
    ahead: lineAhead(rest, 0),
  };
}

function plain({ text }: SideLine): string {
  return text.replace(/\n$/, "");
}

function broken({ text }: SideLine): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
