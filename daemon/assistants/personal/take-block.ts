import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import { disputedLines, takenUnseen } from "../../files/arrivals/unseen-lines.ts";
import { whyMemoryHeld } from "../../held/judge.ts";
import { putHeld } from "../../home/held-store.ts";
import type { PersonalFile } from "../../home/personal-files.ts";
import { PERSONAL_KEY } from "../../home/personal-mark.ts";
import { keepPersonalVersion } from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { isMendedLine } from "../memory-folders/mended-line.ts";
import { mergeTexts } from "../memory-folders/merge-texts.ts";
import { metPairs } from "../memory-folders/met-pairs.ts";
import { isMeantAsEdit } from "./former-text.ts";
import { endHeldBlock, heldBlockPlace, leaveHeldBlock } from "./held-blocks.ts";
import { ancestorsOf } from "./merge-versions.ts";
import {
  entriesWith,
  knownVersions,
  settleVersions,
  standingVersions,
  writeVersion,
} from "./personal-document.ts";
import type { PersonalMerge } from "./personal-status.ts";
import { readMerges } from "./read-merges.ts";
import { textHash } from "./read-personal-file.ts";
import { NO_TEXT, type PersonalVersion, parseVersion, versionOf } from "./version.ts";

type Context = WriteContext<DaemonTables>;

/** A file's block as a look found it. */
export interface SeenBlock {
  readonly file: PersonalFile;
  /** What stands in it; undefined: there is none. */
  readonly text: string | undefined;
  readonly savedAt: number;
  /** A block that is missing or empty has been so for a while: nobody is about to write it. */
  readonly isLasting: boolean;
  /** Lines that came so shortly before that its author may not have seen them. */
  readonly unseen: readonly CameLine[];
}

/** What is known of a file after its block was taken, and why it was not. */
export interface TakenBlock {
  readonly file: PersonalFile;
  readonly why?: Reason | undefined;
  /** The text of which the block has an edit that was taken; undefined: there is none. */
  readonly base?: string | undefined;
}

/** At most this many of a file's own edits can be undone in it. */
const UNDONE_MAX = 20;

/**
 * Takes what stands in a block into the user's document: as an edit of what the block showed
 * before. Nothing is deleted by a block that is missing or empty, and nothing undone by one that
 * another program put back as it was; somebody is asked.
 */
export async function takeBlock(
  context: Context,
  open: OpenDocument,
  seen: SeenBlock,
): Promise<TakenBlock> {
  const { held } = seen.file;
  const taken = await takeSeen(context, open, seen);
  if (held !== undefined && held !== taken.file.held) {
    const base = shownVersion(seen.file)?.text ?? "";
    await leaveHeldBlock(context.db, open, { ...seen, held, base });
  }
  return taken;
}

async function takeSeen(
  context: Context,
  open: OpenDocument,
  seen: SeenBlock,
): Promise<TakenBlock> {
  const { text } = seen;
  const file = withoutFound(afterWrite(seen), text);
  const shown = shownVersion(file);
  const { current } = await settleVersions(context, open);
  if (text === undefined) {
    const gone = { ...file, held: undefined };
    return { file: shown ? asked(gone, "missing", seen.isLasting) : gone };
  }
  if (current && text === current.text) {
    const undone = shown?.text === text ? file.undone : [];
    return { file: { ...showing(file, current), undone } };
  }
  // What came into the block since has been shown to nobody: it is asked about again.
  const isShown = file.takes === undefined || file.takes === textHash(text);
  const isTaken = file.settled === "take" && isShown;
  if (!isTaken && shown && text === shown.text) {
    const isGone = !current && text.trim() !== "";
    const question = isGone ? "deleted" : file.asked === "former" ? "former" : undefined;
    return { file: { ...file, held: undefined, asked: question } };
  }
  if (!isTaken && text.trim() === "") {
    const isEmptied = shown !== undefined && shown.text.trim() !== "";
    const empty = { ...file, held: undefined };
    return { file: isEmptied ? asked(empty, "emptied", seen.isLasting) : empty };
  }
  const known = await knownVersions(context.db);
  const former = known.all.findLast((version) => version.text === text);
  const sides = { shown: shown?.text ?? "", saved: text };
  if (!isTaken && former && !file.undone.includes(textHash(text))) {
    // Somebody has allowed what is held, and it is merged with what others wrote meanwhile.
    if (file.held === textHash(text)) return { file: showing(file, former) };
    const merges = await readMerges(context.db, current);
    const told = seen.unseen.filter(({ isDecided }) => !isDecided);
    const disputed = disputedLines(sides, told);
    if (!isMeantAsEdit(sides, { former, current, merges, disputed })) {
      const question = shown === undefined ? undefined : "former";
      return { file: { ...showing(file, former), asked: question } };
    }
  }
  if (!isTaken && file.asked === "found") return { file };
  const unseen = isTaken ? [] : seen.unseen;
  return await takeEdit(context, open, { seen: { ...seen, file, text, unseen }, shown });
}

/**
 * A write that was begun may have ended, though this process has not seen it, and the file may have
 * been edited since. It did if a line stands in the block that only the write can have brought, or
 * if all are gone that it was to take out. In doubt it did not: so nothing is taken for deleted.
 */
function afterWrite({ file, text }: SeenBlock): PersonalFile {
  if (file.next === undefined || text === undefined) return file;
  const next = parseVersion(file.next);
  const stands = new Set(text.split("\n"));
  const [before, after] = [shownVersion(file)?.text ?? "", next.text].map((each) =>
    each.split("\n"),
  );
  const brought = after?.filter((line) => !before?.includes(line)) ?? [];
  const taken = before?.filter((line) => !after?.includes(line)) ?? [];
  const isOver =
    brought.length > 0
      ? brought.some((line) => stands.has(line))
      : taken.length > 0 && !taken.some((line) => stands.has(line));
  return isOver || next.text === text ? showing(file, next) : file;
}

/** Where nothing stands in the block any more, nobody has to be asked whose it is. */
function withoutFound(file: PersonalFile, text = ""): PersonalFile {
  const isGone = file.asked === "found" && text.trim() === "";
  return isGone ? { ...file, asked: undefined } : file;
}

/** The file has this version in its block. */
export function showing(file: PersonalFile, version: PersonalVersion): PersonalFile {
  const rest = { next: undefined, begun: undefined, held: undefined, asked: undefined };
  return { ...file, ...rest, shown: version.value, undone: [] };
}

function shownVersion({ shown }: PersonalFile): PersonalVersion | undefined {
  return shown === undefined ? undefined : parseVersion(shown);
}

function asked(
  file: PersonalFile,
  question: "missing" | "emptied",
  isLasting: boolean,
): PersonalFile {
  return isLasting ? { ...file, asked: question } : file;
}

async function takeEdit(
  context: Context,
  open: OpenDocument,
  {
    seen: { file, text, savedAt, unseen },
    shown,
  }: {
    readonly seen: SeenBlock & { readonly text: string };
    readonly shown: PersonalVersion | undefined;
  },
): Promise<TakenBlock> {
  const { db } = context;
  const standing = await standingVersions(db, open);
  const known = await knownVersions(db, standing);
  const isFirst = shown === undefined || shown.id === NO_TEXT.id;
  const saved = versionOf(text, isFirst ? [] : [shown.id, ...ancestorsOf(shown, known)]);
  const told = shown ? await readMerges(db, shown) : [];
  const version = withTakenUnseen(saved, shown, { unseen, told });
  const { value } = version;
  if (exceedsBytes(value, LIMITS.memoryValueBytes)) {
    return { file, why: { code: "personal-too-large" } };
  }
  const replaced = entriesWith(standing, shown);
  const hash = textHash(text);
  if (file.held === hash) return { file, why: { code: "personal-held" } };
  const already = [...standing.map((each) => each.version.text), shown?.text ?? ""];
  const why = await whyMemoryHeld(db, open, { memory: { key: PERSONAL_KEY, value }, already });
  if (why) {
    const place = heldBlockPlace(open, hash);
    const writtenAt = context.now;
    await putHeld(db, { ...place, value, seen: replaced, writtenAt, ...why });
    return { file: { ...file, held: hash }, why: { code: "personal-held" } };
  }
  await endHeldBlock(db, open, { text, hash });
  for (const each of [saved, version]) {
    await keepPersonalVersion(db, { id: each.id, value: each.value, isOwn: true });
  }
  const now = Math.min(context.now, Math.round(savedAt));
  await writeVersion(context, open, { version, seen: replaced, now });
  await settleVersions(context, open);
  const undone = shown ? [...file.undone, textHash(shown.text)].slice(-UNDONE_MAX) : [];
  return { file: { ...showing(file, saved), undone }, base: shown?.text ?? "" };
}

/**
 * A saved text with the lines that it took away of those that its author may not have seen. Where
 * it has one that is like such a line in its place, both are told: it may be that one, mended. What
 * was told of the text before is told on: who had not seen a line has settled nothing about it.
 */
function withTakenUnseen(
  saved: PersonalVersion,
  shown: PersonalVersion | undefined,
  {
    unseen,
    told,
  }: { readonly unseen: readonly CameLine[]; readonly told: readonly PersonalMerge[] },
): PersonalVersion {
  const sides = { shown: shown?.text ?? "", saved: saved.text };
  const taken = takenUnseen(sides, unseen);
  if (!taken) return saved;
  const merge = { base: taken.base, mine: saved.text, theirs: sides.shown };
  const merged = mergeTexts(merge);
  const mended = taken.lines.flatMap((line) => {
    const mine = taken.saved.find((each) => isMendedLine(line, each));
    return mine === undefined ? [] : [{ mine: `${mine}\n`, theirs: `${line}\n` }];
  });
  const open = told.flatMap(({ mine, theirs }) => {
    return mine === undefined || theirs === undefined ? [] : [{ mine, theirs }];
  });
  const notes = { isUnited: false, places: [...metPairs(merge, merged), ...mended, ...open] };
  return versionOf(merged.text, [saved.id, ...saved.parents], notes);
}
