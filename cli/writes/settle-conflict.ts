import {
  REPLACING,
  type TextConflictKind,
  type TextConflictRecord,
  type TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { findCodeBlocks } from "../../shared/replica/text/code-blocks.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { Sections } from "../../shared/replica/text/sections.ts";
import {
  holdsAnyLine,
  holdsEachLine,
  holdsLines,
} from "../../shared/replica/text/standing-lines.ts";
import {
  changeForm,
  joinForm,
  plainLines,
  splitForm,
} from "../../shared/replica/text/text-form.ts";
import { type FoundVersion, findBoth, finderFor, strangersAt } from "../local/find-version.ts";
import type { LocalConflict, PlacedVersion, TextConflict } from "../local/local-conflicts.ts";
import { CommandFailed } from "../screen/errors.ts";
import { firstLine } from "../screen/output.ts";
import { parseFormat } from "../views/text-format-view.ts";
import {
  completeAtPlaces,
  type OpenContent,
  openContent,
  putAtPlaces,
  putBack,
  spliceLines,
  withBlanks,
  withOwnBlanks,
  withoutLines,
} from "./put-back.ts";
import { settleWhole } from "./settle-whole.ts";

/** The text after settling a conflict, in two steps. */
export interface Settled {
  /** Without both versions. */
  readonly without: string;
  /** With the chosen one. */
  readonly content: string;
  /** The other version, if its lines are also at another place: those stay. */
  readonly elsewhere?: string;
}

/**
 * The text with one version of a conflict and without the other; `chosen` is 0 or 1. Throws where
 * it is unclear which lines are meant, or where the version to restore was too long to be stored in
 * the conflict.
 */
export function settle(conflict: TextConflict, chosen: number): Settled {
  const settled = settleVersions(conflict, chosen);
  const wanted = conflict.versions[chosen]?.text ?? "";
  if (isDoubled(conflict.content, wanted, settled.content)) throw unsure(conflict.id);
  return settled;
}

/** Whether a line of what was chosen stood in its section already, and stands there twice now. */
function isDoubled(content: string, wanted: string, after: string): boolean {
  const [before, now] = [content, after].map((text) => new Sections(plainLines(text)));
  if (!before || !now) return false;
  const said = plainLines(wanted).filter(hasWord);
  const code = new Set(
    findCodeBlocks(now.lines).flatMap(([from, to]) => now.lines.slice(from, to)),
  );
  return said.some((line) => {
    if (code.has(line)) return false;
    const own = said.filter((each) => each === line).length;
    return now.places(line).some((at) => {
      const there = before.count(line, now.over[at] ?? "");
      return there > 0 && now.count(line, now.over[at] ?? "") > Math.max(there, own);
    });
  });
}

function settleVersions(conflict: TextConflict, chosen: number): Settled {
  const { id, record, versions, content } = conflict;
  const [wanted, other] = [versions[chosen], versions[1 - chosen]];
  if (!wanted || !other) throw new CommandFailed("a conflict has two versions: choose 1 or 2");
  if (record.kind === "format") {
    return {
      without: content,
      content: wanted.inText ? content : writtenAs(content, wanted, other),
    };
  }
  if (record.kind === "moved" && wanted.inText) return { without: content, content };
  const whole = settleWhole(content, [wanted, other]);
  if (whole && "changed" in whole) throw changed(id, whole.changed);
  if (whole && "carried" in whole) throw unsure(id);
  if (whole) return whole;
  if (other.cut) throw tooLong();
  const find = finderFor(record.kind);
  const there = find(content, other, wanted);
  if (!there) throw unsure(id);
  if (record.kind === "moved") {
    const without = withoutFound(content, there);
    const missing = { found: [], missing: wanted.places };
    return {
      without: without.content,
      content: bringBack(without, wanted, { foundVersion: missing, kind: record.kind }),
    };
  }
  const here = find(content, wanted, other);
  // The lines that stand can't be told from others and are the chosen ones, so they stay.
  if (!here && there.found.length === 0 && holdsLines(content, wanted.text)) {
    return { without: content, content };
  }
  if (!here && LACKING.includes(record.kind) && wanted.places.length > 0) {
    return { without: content, content: completeAtPlaces(content, wanted.places).content };
  }
  if (!here) throw wanted.cut ? tooLong() : unsure(id);
  return settlePlaced(conflict, [wanted, other]);
}

/**
 * Other conflicts of the text that this choice has settled as well: one of their versions was in
 * the text before, and nothing of it is left.
 */
export function settledAlong(
  { id, document, content }: TextConflict,
  others: readonly LocalConflict[],
  after: string,
): TextConflict[] {
  const isGone = ({ text }: PlacedVersion) =>
    text !== "" && holdsEachLine(content, text) && !holdsAnyLine(after, text);
  return others.filter((each): each is TextConflict => {
    if (each.kind !== "text" || each.id === id || each.document.name !== document.name)
      return false;
    return REPLACING.includes(each.record.kind) && each.versions.some(isGone);
  });
}

/**
 * Covered conflicts that this choice has settled as well: no line that was not chosen is left.
 * `chosen` is 0 or 1.
 */
export function settledWith(
  { versions, covered }: TextConflict,
  chosen: number,
  after: string,
): TextConflictRecord[] {
  const kept = new Set(plainLines(versions[chosen]?.text ?? ""));
  const standing = new Set(plainLines(after));
  const left = plainLines(versions[1 - chosen]?.text ?? "").filter((line) => {
    return hasWord(line) && !kept.has(line) && standing.has(line);
  });
  return covered.filter((each) => {
    const own = new Set(each.versions.flatMap(({ text }) => plainLines(text)));
    return !left.some((line) => own.has(line));
  });
}

/** For versions each of which is at its known place or out of the text. */
function settlePlaced(
  { id, record, content }: TextConflict,
  versions: readonly [PlacedVersion, PlacedVersion],
): Settled {
  const found = findBoth(content, versions, finderFor(record.kind));
  if (!found) throw unsure(id);
  // What git put in the place of set-aside lines never stood in the document, and nobody has
  // changed it.
  const isWhole = record.kind === "set-aside" && found.some(({ missing }) => missing.length === 0);
  const line = isWhole ? undefined : findChanged(content, versions, found);
  if (line !== undefined) throw changed(id, line);
  const [[wanted, other], [here, there]] = [versions, found];
  // If the lines are in the text twice, nobody knows which blank lines came with them.
  const left = withoutFound(content, there, record.kind === "twice" && here.missing.length === 0);
  const anew = withoutFound(content, { ...there, found: [...there.found, ...here.found] });
  const chosenText = bringBack(left, wanted, { foundVersion: here, kind: record.kind });
  const isElsewhere = other.text.trim() !== "" && holdsLines(anew.content, other.text);
  return {
    without: here.found.length > 0 ? anew.content : left.content,
    content: chosenText,
    ...(isElsewhere && { elsewhere: other.text }),
  };
}

/** The missing version of such a conflict may have come back in part: then it is completed. */
const LACKING: readonly TextConflictKind[] = ["deletion", "elsewhere"];

/**
 * Finds a version that was changed by hand: if it is not at its place, a line may be there that is
 * in neither version. Keeping the chosen one would leave that line beside it, without notice.
 */
function findChanged(
  content: string,
  versions: readonly PlacedVersion[],
  found: readonly FoundVersion[],
): string | undefined {
  if (versions.some(({ text }) => text === "")) return undefined;
  for (const [at, { missing }] of found.entries()) {
    const [version, other] = [versions[at], versions[1 - at]];
    if (!version || !other || version.places.length === 0) continue;
    const standing = found[1 - at]?.found[0]?.lines;
    for (const place of missing) {
      const [line] = strangersAt(content, { place, version, other, standing });
      if (line !== undefined) return line;
    }
  }
  return undefined;
}

/**
 * The text in the chosen format: with the same line endings everywhere, unless both versions agree.
 */
function writtenAs(content: string, wanted: TextVersion, other: TextVersion): string {
  const [{ eol, ...parts }, rejected] = [parseFormat(wanted.text), parseFormat(other.text)];
  if (eol === rejected.eol) {
    const { form, lines } = splitForm(content);
    return joinForm(lines, { ...form, ...parts });
  }
  if (eol !== "mixed") return changeForm(content, { eol, ...parts });
  throw new CommandFailed(
    "nobody knows any more which lines had which of the mixed line endings: " +
      "`memsync doc history` has the text that had them, `memsync doc restore REV` brings it back",
  );
}

/**
 * Of the blank lines on both sides of removed lines, those on one side are enough; at the end of
 * the text, none.
 */
function withGapsClosed({ lines }: OpenContent, gone: ReadonlySet<number>): ReadonlySet<number> {
  const closed = new Set(gone);
  const isBlank = (at: number) => lines[at]?.trim() === "";
  for (let first = 0, end = 0; first < lines.length; first = end + 1) {
    end = first;
    while (gone.has(end)) end++;
    if (end === first) continue;
    let [before, after] = [0, 0];
    while (isBlank(first - 1 - before)) before++;
    while (isBlank(end + after)) after++;
    const isAtEnd = end + after >= lines.length;
    const count = isAtEnd ? before : Math.min(before, after);
    for (let at = 1; at <= count; at++) closed.add(first - at);
  }
  return closed;
}

/**
 * The text without the found lines, and where the first of them was. `closes`: nothing replaces
 * them.
 */
function withoutFound(content: string, { found }: FoundVersion, closes = false) {
  const open = openContent(content);
  const gone = new Set<number>();
  for (const { lines, place } of found) {
    const { at, count } = withBlanks(open, lines, place);
    for (let line = at; line < at + count; line++) gone.add(line);
  }
  const end = gone.size === 0 ? undefined : Math.min(...gone);
  const behind = found.length === 1 ? found[0]?.place.behind : undefined;
  return {
    content: withoutLines(open, closes ? withGapsClosed(open, gone) : gone),
    at: end,
    behind,
  };
}

/** Puts a version beside what it was beside, or where the other version was taken out. */
function bringBack(
  { content, at, behind }: ReturnType<typeof withoutFound>,
  { text, places, cut }: PlacedVersion,
  {
    foundVersion: { found, missing },
    kind,
  }: { readonly foundVersion: FoundVersion; readonly kind: TextConflictKind },
): string {
  if (missing.length === 0) return content;
  if (cut) throw tooLong();
  const restores = LACKING.includes(kind);
  const isSamePlace = places.length === 0 || (kind === "both" && places.length === 1);
  if (at !== undefined && found.length === 0 && isSamePlace)
    return spliceLines(openContent(content), at, { removed: 0, put: text });
  const place = places.length === 1 ? places[0] : undefined;
  // Lines typed above those that git set aside are also above what git put there.
  if (kind === "set-aside" && at !== undefined && place && place.behind === behind)
    return spliceLines(openContent(content), at, { removed: 0, put: withOwnBlanks(place) });
  if (places.length > 0)
    return restores ? completeAtPlaces(content, missing).content : putAtPlaces(content, missing);
  return putBack(content, text, "");
}

function tooLong(): CommandFailed {
  return new CommandFailed(
    "a version is too long to be kept here whole: `memsync doc history` has the texts that had " +
      "it, and `memsync doc restore REV` brings one back",
  );
}

function changed(id: string, line: string): CommandFailed {
  return new CommandFailed(
    `\`${firstLine(line)}\` stands where the two versions stood, and is in none of them: edit ` +
      `the document as you want it, then \`memsync conflicts dismiss ${id}\``,
  );
}

function unsure(id: string): CommandFailed {
  return new CommandFailed(
    "its lines have changed since, or stand at several places: edit the document as you want it, " +
      `then \`memsync conflicts dismiss ${id}\``,
  );
}
