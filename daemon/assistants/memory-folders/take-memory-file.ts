import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { whyMemoryHeld } from "../../held/judge.ts";
import { dropHeld, placeOf, putHeld } from "../../home/held-store.ts";
import {
  findMemoryFile,
  forgetMemoryFile,
  type MemoryFile,
  NEVER_SHOWN,
  putMemoryFile,
} from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { INDEX_NAME, keyOfName } from "./memory-names.ts";
import { isMendedLine } from "./mended-line.ts";
import { type MemoryText, takeMemoryEdit, uniteOwnVersion } from "./take-memory-edit.ts";

type Context = WriteContext<DaemonTables>;

/** A file of a memory folder, and what a look found in its place. */
export interface SeenMemoryFile {
  readonly folder: string;
  readonly name: string;
  /** Undefined: nothing, or no text any more. */
  readonly file: MemoryText | undefined;
  /** Most files of the folder are gone: what is in it now was begun anew. */
  readonly isBegunAnew: boolean;
  /** See `MemoryEdit`. */
  readonly staleBase?: string | undefined;
}

/**
 * Takes what a look found of one file into the document. A file that is missing deletes nothing:
 * somebody is asked. So it is where the memory is gone and the file is there.
 */
export async function takeMemoryFile(
  context: Context,
  open: OpenDocument,
  seen: SeenMemoryFile,
): Promise<void> {
  const { db } = context;
  const { folder, name, file } = seen;
  const written = await findMemoryFile(db, folder, name);
  // Its lines were new, whatever became of the file.
  if (written) await uniteOwnVersion(context, open, written);
  const known = await settled(context, open, seen);
  if (!file) {
    if (known) await takeMissing(db, open, { folder, known });
    return;
  }
  if (known && known.hash === file.hash) {
    await takeUnchanged(context, open, { folder, known });
    return;
  }
  const isAnew = seen.isBegunAnew || known?.asked === "missing";
  const taken = await takeChanged(context, open, { ...seen, file, known, isAnew });
  if (taken) await putMemoryFile(db, folder, taken);
}

interface KnownFile {
  readonly folder: string;
  readonly known: MemoryFile;
}

/** The file as it is known, after what a person has decided about it. */
async function settled(
  context: Context,
  open: OpenDocument,
  { folder, name, file }: SeenMemoryFile,
): Promise<MemoryFile | undefined> {
  const { db } = context;
  const known = await findMemoryFile(db, folder, name);
  if (!known?.settled) return known;
  const { asked, settled: by, ...rest } = known;
  // To be written again; see below.
  if (asked === undefined && file === undefined) return undefined;
  const isAsAsked = (asked === "missing") === (file === undefined);
  if (isAsAsked && asked === "missing") {
    if (by === "delete") open.document.deleteEntry("memories", keyOfName(name), known.seen);
    await context.flush(open);
    if (by === "delete") await forgetMemoryFile(db, folder, name);
    else await putMemoryFile(db, folder, { name, ...NEVER_SHOWN, settled: by });
    return undefined;
  }
  // A file whose memory was deleted is removed by whoever writes files.
  if (isAsAsked && by === "delete") return known;
  await putMemoryFile(db, folder, rest);
  if (!isAsAsked || !file || asked === undefined) return rest;
  const shown = await takeMemoryEdit(context, open, { name, base: undefined, file });
  return { ...rest, ...shown };
}

async function takeMissing(
  db: Context["db"],
  { document }: OpenDocument,
  { folder, known }: KnownFile,
): Promise<void> {
  const isGone = document.memories.get(keyOfName(known.name)).length === 0;
  if (isGone || known.hash === NEVER_SHOWN.hash) await forgetMemoryFile(db, folder, known.name);
  else if (known.asked !== "missing") {
    await putMemoryFile(db, folder, { ...known, asked: "missing" });
  }
}

async function takeUnchanged(
  context: Context,
  open: OpenDocument,
  { folder, known }: KnownFile,
): Promise<void> {
  const { name, text, seen } = known;
  // What was held is not in the file any more.
  if (known.held !== undefined) {
    await dropHeld(context.db, { kind: "memory", ...placeOf(open), key: keyOfName(name) });
  }
  const [current] = open.document.memories.get(keyOfName(name));
  const asked = current ? undefined : ("deleted" as const);
  const isShown = current?.value === text;
  const ids = isShown && current ? [current.id] : seen;
  const now: MemoryFile = { ...known, asked, seen: ids, held: undefined, next: undefined };
  if (!current && known.settled) return;
  if (JSON.stringify(now) !== JSON.stringify(known)) await putMemoryFile(context.db, folder, now);
}

/** Undefined: the file is as it was held before. */
async function takeChanged(
  context: Context,
  open: OpenDocument,
  {
    name,
    file,
    known,
    isAnew,
    staleBase,
  }: Pick<SeenMemoryFile, "name" | "staleBase"> & {
    readonly file: MemoryText;
    readonly known: MemoryFile | undefined;
    readonly isAnew: boolean;
  },
): Promise<MemoryFile | undefined> {
  const { content, hash } = file;
  const key = keyOfName(name);
  const arrivedAt = known?.arrivedAt;
  if (known?.next?.hash === hash) return { name, arrivedAt, ...known.next };
  const entries = open.document.memories.get(key);
  const [current] = entries;
  if (current?.value === content) {
    return { name, arrivedAt, hash, text: content, seen: [current.id] };
  }
  if (known?.held === hash) return undefined;
  const { db, now: writtenAt } = context;
  const already = entries.map(({ value }) => String(value));
  const why = await whyMemoryHeld(db, open, { memory: { key, value: content }, already });
  const place = { kind: "memory", ...placeOf(open), key } as const;
  if (why) {
    const seen = known?.seen ?? [];
    await putHeld(db, { ...place, value: content, seen, writtenAt, ...why });
    return { ...(known ?? { name, ...NEVER_SHOWN }), next: undefined, held: hash };
  }
  if (known?.held !== undefined) await dropHeld(db, place);
  // Who writes a file anew has not seen what it had, and deletes nothing of that.
  const isEdit = known !== undefined && known.hash !== NEVER_SHOWN.hash;
  const base = isEdit && !isAnew && !isOther(name, known.text, content) ? known : undefined;
  const edit = { name, base, file, staleBase };
  return { name, arrivedAt, ...(await takeMemoryEdit(context, open, edit)) };
}

/** Whether an index has nothing of what it had: somebody may have lost it, and begun another. */
function isOther(name: string, former: string, content: string): boolean {
  if (name !== INDEX_NAME) return false;
  const lines = linesOf(former);
  const isOf = (line: string) => lines.some((known) => isMendedLine(known, line));
  return lines.length > 0 && !linesOf(content).some(isOf);
}

/** Headings are the same in every index. */
function linesOf(index: string): string[] {
  return plainLines(index).filter((line) => line.trim() !== "" && !line.startsWith("#"));
}
