import type {
  NewTextConflict,
  PlacedLines,
  TextConflictRecord,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { authors } from "../arrivals/bringers.ts";
import { indicesFrom, linesThatStay, runsOf } from "../lines/line-runs.ts";
import { joinedText, placedRuns } from "../lines/placed-runs.ts";
import { SpanSet } from "../lines/span-set.ts";
import { contentLines, joinLines, linesOf, nobodysLine } from "../lines/text-lines.ts";
import { type FileContent, knownBase } from "../state/file-edit.ts";
import type { FollowedState, SetAside } from "../state/follow-store.ts";
import { removalOf } from "./removal.ts";

/** Lines that git has set aside at most, the latest ones. */
const LINES_MAX = 1000;

/**
 * What a file has again of what git had set aside, where others have decided otherwise meanwhile:
 * lines that they have deleted, and the deletion of lines that they have written again. Whoever
 * tells git to bring a save back has not seen that. All of it stays, with a conflict.
 */
export interface BroughtBack {
  /** The text that the save is an edit of: in it what others wrote again is nobody's. */
  readonly base: CapturedText;
  /** Lines that others deleted, and what the file had in their place. */
  readonly come: readonly PlacedLines[];
  readonly instead: readonly PlacedLines[];
  /** Lines that others wrote again. */
  readonly gone: ReadonlySet<string>;
}

/** To be asked before the save is taken. Undefined where it brings back nothing of the kind. */
export function findBroughtBack(
  open: OpenDocument,
  { base, setAside }: FollowedState,
  { content }: FileContent,
): BroughtBack | undefined {
  if (!setAside) return undefined;
  const document = contentLines(open.document.content());
  const standing = new Set(document);
  const [before, after] = [linesOf(knownBase(open, base)), contentLines(content)];
  const shown = before.map(({ text }) => withoutMark(text));
  // By place: an equal line may stand elsewhere, as where git set a moved line aside.
  const [had, has] = [linesThatStay(shown, document), linesThatStay(after, document)];
  const isTaken = (at: number) => setAside.taken.includes(after[at] ?? "") && !has.has(at);
  const isReturned = (at: number) => setAside.returned.includes(shown[at] ?? "") && had.has(at);
  const [come, instead, gone]: [number[], number[], number[]] = [[], [], []];
  for (const { at, removed, from, added } of diffLines(shown, after)) {
    const back = indicesFrom(from, added).filter(isTaken);
    come.push(...back);
    if (back.length > 0) instead.push(...indicesFrom(at, removed));
    gone.push(...withBlanks(indicesFrom(at, removed), shown, isReturned));
  }
  if (come.length + gone.length === 0) return undefined;
  const isGone = new Set(gone);
  const lines = before.map((line, at) => (isGone.has(at) ? nobodysLine(line.text) : line));
  const inDocument = instead.filter((at) => !isGone.has(at) && standing.has(shown[at] ?? ""));
  return {
    base: joinLines(lines),
    come: placedRuns(come, after, new Set()),
    instead: placedRuns(inDocument, shown, new Set()),
    gone: new Set(gone.map((at) => shown[at] ?? "")),
  };
}

/** The lines of a hunk that are meant, and the blank ones that come and go with them. */
function withBlanks(
  hunk: readonly number[],
  texts: readonly string[],
  isMeant: (at: number) => boolean,
): number[] {
  const said = hunk.filter((at) => hasWord(texts[at] ?? ""));
  const lineOf = (at: number) => said.findLast((each) => each <= at) ?? said[0];
  return hunk.filter((at) => isMeant(lineOf(at) ?? at));
}

/** The conflicts about that, once the save is taken. `told`: those that the edit itself told. */
export async function conflictsOfBack(
  { db }: WriteContext<DaemonTables>,
  open: OpenDocument,
  {
    back: { base, come, instead, gone },
    told,
    savedAt,
  }: {
    readonly back: BroughtBack;
    readonly told: readonly TextConflictRecord[];
    readonly savedAt: number;
  },
): Promise<NewTextConflict[]> {
  const said = new Set(told.flatMap(({ versions }) => versions).flatMap(linesIn));
  const mine = { machine: open.writer.machine, at: Math.round(savedAt) };
  const conflicts: NewTextConflict[] = [];
  const [line] = come.flatMap(linesIn).filter((each) => !said.has(each));
  if (line !== undefined) {
    const versions = [
      { ...mine, text: joinedText(come), places: come, isStanding: true },
      { ...(await removalOf(db, open, [line])), text: joinedText(instead), places: instead },
    ] as const;
    conflicts.push({ kind: "renewed", versions });
  }
  const lines = linesOf(open.document.captureText());
  const own = new SpanSet(base.spans);
  const texts = lines.map(({ text }) => withoutMark(text));
  const again = lines.flatMap(({ spans }, at) =>
    gone.has(texts[at] ?? "") && !said.has(texts[at] ?? "") && !own.hasAny(spans) ? [at] : [],
  );
  // Blank lines alone may be any that others wrote.
  const stay = runsOf([...again.keys()], (i) => (again[i] ?? 0) - i).flatMap(({ indices }) => {
    const run = indices.flatMap((i) => again[i] ?? []);
    return run.some((at) => hasWord(texts[at] ?? "")) ? run : [];
  });
  if (stay.length === 0) return conflicts;
  const places = placedRuns(stay, texts, new Set());
  const spans = stay.flatMap((at) => lines[at]?.spans ?? []);
  const machine = authors(db, open, spans);
  const versions = [
    { machine, text: joinedText(places), places, isStanding: true },
    { ...mine, text: "" },
  ] as const;
  return [...conflicts, { kind: "renewed", versions }];
}

/**
 * What is set aside once a file is taken. `told`: the conflicts about what git took out or put
 * back.
 */
export function stillAside(
  known: FollowedState | undefined,
  { content }: FileContent,
  {
    told,
    commit,
  }: { readonly told: readonly NewTextConflict[]; readonly commit: string | undefined },
): SetAside | undefined {
  const before = known?.setAside;
  const [had, has] = [known?.base.text ?? "", content].map((text) => new Set(contentLines(text)));
  const left = {
    taken: before?.taken.filter((line) => !had?.has(line) && !has?.has(line)) ?? [],
    returned: before?.returned.filter((line) => had?.has(line) && has?.has(line)) ?? [],
  };
  const versions = told.map((each) => each.versions);
  const taken = versions.flatMap(([stood]) => linesIn(stood));
  const returned = versions.flatMap(([stood, put]) => (stood.text === "" ? linesIn(put) : []));
  const next = {
    taken: [...new Set([...taken, ...left.taken])].slice(0, LINES_MAX),
    returned: [...new Set([...returned, ...left.returned])].slice(0, LINES_MAX),
  };
  const isAnyAside = next.taken.length + next.returned.length > 0;
  // What is committed is no longer kept by a stash alone.
  const isSame = before !== undefined && commit === known?.checkedOut.commit;
  return isAnyAside || isSame ? next : undefined;
}

function linesIn({ text }: { readonly text: string }): string[] {
  return contentLines(text).filter(hasWord);
}
