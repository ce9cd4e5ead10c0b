import { assert } from "../../../shared/errors.ts";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import { type Entry, type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import type { SettledChange, SettledLine } from "../../files/arrivals/told-lines.ts";
import { putMemoryFile, readMemoryFiles, type StandingMemory } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import {
  findCommon,
  inTurn,
  lineageOf,
  lineageShown,
  metIn,
  noteMadeOf,
  standingIndexes,
} from "./index-lineage.ts";
import { indexPairs, isNamedIn, mergeIndexes, uniteIndexes } from "./index-lines.ts";
import { keyOfName } from "./memory-names.ts";
import {
  missingTopics,
  shownIndex,
  topicsOf,
  withMissing,
  withoutLinesAbout,
} from "./missing-topics.ts";
import type { MemoryText } from "./read-memory-folder.ts";
import { settleText } from "./settled-text.ts";
import { unseenInIndex } from "./unseen-in-index.ts";

type Context = WriteContext<DaemonTables>;

/** An index's file with the text that it was edited to. */
interface IndexEdit {
  readonly folder: string;
  readonly format: FolderFormat;
  readonly key: string;
  /** What the file showed before; undefined for a file that was not known. */
  readonly base: StandingMemory | undefined;
  readonly file: MemoryText;
  readonly unseen: readonly CameLine[];
}

/**
 * Writes an edit of an index into the document: over exactly what the file showed. What others have
 * written meanwhile is merged with it by lines. Each side's deletions count as far as the text is
 * known that both were made of; else all lines of both stay. What stood beside the text that it was
 * made from is merged by whoever wrote that. The lines of topics that are missing here stay until
 * somebody has decided about these. Returns what the file shows now.
 */
export async function takeIndexEdit(
  context: Context,
  open: OpenDocument,
  { folder, format, key, base, file, unseen }: IndexEdit,
): Promise<StandingMemory> {
  const { document } = open;
  const { content, hash } = file;
  const seen = base?.seen ?? [];
  const before = standingIndexes(document, key);
  const others = before.filter(({ id }) => !isAmong(seen, id));
  // Where the base's entries are gone, whoever replaced them had seen them.
  const isBaseOfAll = base !== undefined && others.length === before.length;
  const edit = base && { key, base, content, unseen };
  const { whole: withUnseen, disputed = [] } = edit ? await unseenInIndex(context, open, edit) : {};
  const known = await readMemoryFiles(context.db, folder);
  const topics = missingTopics(document, { format, known, shown: content });
  const shown = before.find(({ id }) => isAmong(seen, id));
  const memory = String(shown?.value ?? base?.text ?? "");
  const whole = withMissing({ memory, saved: withUnseen ?? content }, topics) ?? withUnseen;
  if (base) await setAside(context, open, { key, text: base.text, lines: disputed });
  // What does not fit stays as a version of its own, that has seen nothing of the others.
  const isWithin = whole === undefined || !isTooLong(whole);
  const from = base && isWithin ? lineageShown(document, key, base) : [];
  const now = Math.min(context.now, Math.round(file.savedAt));
  const over = isWithin ? seen : [];
  const written = await writeIndex(context, open, { key, text: content, now, over, from });
  if (whole !== undefined) await writeMerged(context, open, { key, text: whole, of: [written] });
  if (others.length > 0 && (base === undefined || isBaseOfAll)) {
    await bringTogether(context, open, { key, base: isBaseOfAll ? base?.text : undefined });
  }
  return { hash, text: content, seen: [written.id] };
}

/**
 * Brings the versions of an index together, if this machine wrote one that does not count: one
 * machine alone does it, and that one knows that its version was new.
 */
export async function mergeOwnIndex(
  context: Context,
  open: OpenDocument,
  { key, seen }: { readonly key: string } & Pick<StandingMemory, "seen">,
): Promise<void> {
  const [, ...losers] = standingIndexes(open.document, key);
  if (losers.some(({ id }) => isAmong(seen, id))) await bringTogether(context, open, { key });
}

/** Has an index as somebody has decided about some of its lines. Undefined: there is none. */
export async function settleIndexLines(
  context: Context,
  open: OpenDocument,
  { key, settled }: { readonly key: string; readonly settled: readonly SettledLine[] },
): Promise<SettledChange | undefined> {
  const [current] = standingIndexes(open.document, key);
  if (!current) return undefined;
  const before = String(current.value);
  const former = await listRevisions(context.db, open.id, { kind: "memory", key });
  const formers = former.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  const fits = (text: string) => !isTooLong(text);
  const { text, done } = settleText(before, { settled, formers, fits });
  if (text !== before) {
    const from = lineageOf(open.document, current);
    await writeIndex(context, open, { key, text, now: context.now, over: [current.id], from });
  }
  return { from: before, to: text, done };
}

/**
 * Takes the lines of a topic that is gone out of its index, where the index's file here does not
 * name it: whoever removed the topic's file has taken them out, too.
 */
export async function takeOutLinesOf(
  context: Context,
  open: OpenDocument,
  {
    folder,
    format,
    name,
  }: { readonly folder: string; readonly format: FolderFormat; readonly name: string },
): Promise<void> {
  const { document } = open;
  const { index } = format;
  if (index === undefined || index === name) return;
  const key = keyOfName(format, index);
  const [current] = standingIndexes(document, key);
  const standing = topicsOf(document, format);
  const known = await readMemoryFiles(context.db, folder);
  // Somebody has written it meanwhile.
  const isStanding = standing.includes(name);
  if (!current || isStanding || isNamedIn(shownIndex(known, format), name)) return;
  const before = String(current.value);
  const text = withoutLinesAbout(before, { missing: [name], standing });
  if (text === before) return;
  const from = lineageOf(document, current);
  const { now } = context;
  const written = await writeIndex(context, open, { key, text, now, over: [current.id], from });
  // Who is asked about the index, too, decides about this one.
  const file = known.get(index);
  if (!file || !isAmong(file.seen, current.id)) return;
  const seen = file.seen.map((id) => (sameId(id, current.id) ? written.id : id));
  await putMemoryFile(context.db, folder, { ...file, seen });
}

/** Whether the lines of an index's versions are too many for one memory. */
export function isApart({ document }: OpenDocument, key: string): boolean {
  const texts = standingIndexes(document, key).map(({ value }) => String(value));
  return texts.length > 1 && isTooLong(uniteIndexes(texts));
}

/** `base`: the text that two versions were made of, where these do not say so. */
async function bringTogether(
  context: Context,
  open: OpenDocument,
  { key, base }: { readonly key: string; readonly base?: string | undefined },
): Promise<void> {
  const { document } = open;
  const versions = standingIndexes(document, key);
  const [first, ...others] = versions;
  if (!first) return;
  let text = String(first.value);
  let lineage = lineageOf(document, first);
  const met: (readonly [string, string])[] = [];
  for (const each of others) {
    const [mine, its] = [String(each.value), lineageOf(document, each)];
    const asked = { key, one: lineage, other: its };
    const ofTwo = others.length === 1 ? base : undefined;
    const common = (await findCommon(context.db, open, asked)) ?? ofTwo;
    if (common === undefined) text = uniteIndexes([text, mine]);
    else {
      const sides = { base: common, mine, theirs: text };
      text = mergeIndexes(sides);
      const pairs = indexPairs(sides, text);
      met.push(...pairs.map((pair) => [pair.mine.slice(0, -1), pair.theirs.slice(0, -1)] as const));
    }
    lineage = inTurn(lineage, its);
  }
  await writeMerged(context, open, { key, text, of: versions, met });
}

interface MergedIndex {
  readonly key: string;
  readonly text: string;
  readonly of: readonly Entry[];
  readonly met?: IndexVersion["met"];
}

/**
 * What is replaced goes into the history. A text over the limit stays in its versions; see
 * `isApart`.
 */
async function writeMerged(
  context: Context,
  open: OpenDocument,
  { key, text, of, met }: MergedIndex,
): Promise<void> {
  if (isTooLong(text)) return;
  const from = of.map((each) => lineageOf(open.document, each)).reduce(inTurn, []);
  const over = of.map(({ id }) => id);
  await writeIndex(context, open, { key, text, now: context.now, over, from, met });
}

function isTooLong(text: string): boolean {
  return exceedsBytes(text, LIMITS.memoryValueBytes);
}

/** A text of an index with lines that an edit takes away. */
interface AsideText {
  readonly key: string;
  readonly text: string;
  readonly lines: readonly string[];
}

/**
 * Lets the text that an edit was made from stand beside it, as an older version, unless another
 * older one has the lines. To be called before the edit is written.
 */
async function setAside(
  context: Context,
  open: OpenDocument,
  { key, text, lines }: AsideText,
): Promise<void> {
  const merged = standingIndexes(open.document, key);
  const hasThem = (entry: Entry) => {
    const stands = new Set(plainLines(String(entry.value)));
    return !merged.includes(entry) && lines.every((line) => stands.has(line));
  };
  if (lines.length === 0 || open.document.memories.get(key).some(hasThem)) return;
  const { memories } = open.document;
  const now = Math.min(context.now, ...memories.get(key).map(({ updated_at: at }) => at));
  await writeIndex(context, open, { key, text, now, over: [], from: [], isAside: true });
}

interface IndexVersion {
  readonly key: string;
  readonly text: string;
  readonly now: number;
  readonly over: readonly EntryId[];
  readonly from: readonly string[];
  readonly isAside?: boolean;
  /** Lines that two sides have written in the place of one. */
  readonly met?: readonly (readonly [string, string])[] | undefined;
}

/** Writes a version of an index, with what it was made of. */
export async function writeIndex(
  context: Context,
  open: OpenDocument,
  { key, text, now, over, from, isAside, met: pairs = [] }: IndexVersion,
): Promise<Entry> {
  const { document } = open;
  const met = [
    ...metIn(document, { key, text, ids: over }),
    ...pairs.map((lines) => ({ lines, at: context.now })),
  ];
  document.setEntry("memories", key, { value: text, now, seen: over });
  const written = lastOwnEntry(open, key);
  noteMadeOf(document, { key, id: written.id, from, isAside, met }, context.now);
  await context.flush(open);
  return written;
}

/** The last one that this process wrote. */
function lastOwnEntry({ document }: OpenDocument, key: string): Entry {
  const own = document.memories.get(key).filter(({ id }) => {
    return id.client === document.ydoc.clientID;
  });
  const [last] = own.sort((one, other) => other.id.clock - one.id.clock);
  assert(last, "what was just written stands");
  return last;
}

function isAmong(ids: readonly EntryId[], id: EntryId): boolean {
  return ids.some((each) => sameId(each, id));
}
