import { join } from "node:path";
import type { Reason } from "../../../shared/reasons.ts";
import type { Entry } from "../../../shared/replica/document/entry-index.ts";
import { deletionOf } from "../../../shared/replica/document/project-deletion.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { ABSENT_HASH } from "../../disk/read-file.ts";
import type { LineArrivals } from "../../files/arrivals/line-arrivals.ts";
import type { ToldLines } from "../../files/arrivals/told-lines.ts";
import {
  isNeverFilled,
  leaveDeletedFile,
  type MemoryFile,
  NEVER_SHOWN,
  putMemoryFile,
  readMemoryFiles,
} from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { WhyIgnored } from "../../ignored/ignore-file.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { addIndexLines } from "./add-index-lines.ts";
import type { FolderInGit } from "./folder-in-git.ts";
import { notesHeld } from "./held-memories.ts";
import { metIn, standingIndexes } from "./index-lineage.ts";
import type { LateMemorySaves } from "./late-memory-saves.ts";
import { documentOf, type KeptFolder, type MemoryKeeperOptions } from "./memory-keeper-options.ts";
import { keyOfName } from "./memory-names.ts";
import { type MemoryArrival, type MemoryNote, planArrivals } from "./plan-arrivals.ts";
import { machineThatWrote } from "./put-back-text.ts";
import type { MemoryRead } from "./read-memory-folder.ts";
import { isApart } from "./take-index-edit.ts";
import { deletionsIn } from "./take-memory-file.ts";
import { removeMemoryFile, writeMemoryFile } from "./write-memory-file.ts";

/** What the writer works with. */
export interface FolderWriterOptions extends MemoryKeeperOptions {
  readonly late: LateMemorySaves;
  readonly came: LineArrivals;
  readonly told: ToldLines;
  /** True: nothing more is to be begun. */
  readonly isStopped: () => boolean;
}

/** A folder as one look found it. */
export interface SeenFolder extends KeptFolder {
  readonly files: ReadonlyMap<string, MemoryRead>;
  /** Why a file of this name stays on this machine; undefined: it does not. */
  readonly whyIgnored: (name: string) => WhyIgnored | undefined;
  readonly git: FolderInGit;
  /** Whether the folder is still the one that was looked at. */
  readonly isDue: () => Promise<boolean>;
}

/** What is to be written, and what is not. */
interface Plan {
  readonly arrivals: readonly MemoryArrival[];
  readonly notes: readonly MemoryNote[];
}

/** A write that may be made, if this still says so. */
interface Permitted extends MemoryArrival {
  readonly isDue: () => Promise<boolean>;
}

/** For so long it is told that two sides have rewritten one line. */
const MET_MS = 24 * 60 * 60_000;

const NOTHING: Plan = { arrivals: [], notes: [] };

/**
 * Brings what came from elsewhere into the files of a folder, where that is agreed to, and removes
 * the files whose deletion somebody has agreed to.
 */
export class MemoryFolderWriter {
  readonly #options: FolderWriterOptions;

  constructor(options: FolderWriterOptions) {
    this.#options = options;
  }

  /** To be called after what the files have was taken. */
  async write(
    folder: SeenFolder,
  ): Promise<{ readonly written: number; readonly notes: readonly MemoryNote[] }> {
    await this.#remove(folder);
    const { arrivals, notes } = await this.#plan(folder);
    const permitted = await this.#permit(folder, arrivals);
    const { store, isStopped } = this.#options;
    const known = await readMemoryFiles(store.reader, folder.path);
    const now = this.#options.world.now();
    await store.write(async ({ db }) => {
      for (const { name, next, isAskedFor } of permitted.arrivals) {
        const former = known.get(name);
        const isNew = name !== folder.format.index && (isAskedFor || isNeverFilled(former));
        const arrivedAt = isNew ? now : former?.arrivedAt;
        await putMemoryFile(db, folder.path, { name, ...(former ?? NEVER_SHOWN), arrivedAt, next });
      }
    });
    const refused: MemoryNote[] = [];
    for (const arrival of permitted.arrivals) {
      if (isStopped()) break;
      const why = await this.#write(folder, arrival);
      if (why) refused.push({ name: arrival.name, why });
    }
    const all = [...notes, ...permitted.notes, ...refused];
    return { written: permitted.arrivals.length, notes: all };
  }

  async #plan(folder: SeenFolder): Promise<Plan> {
    const { path, format, owner, files, git, whyIgnored, mode } = folder;
    const isOpen = (name: string) => git.of(name) !== "left" && !whyIgnored(name);
    const { index } = format;
    return await this.#options.store.write(async (context) => {
      const open = await context.open(documentOf(this.#options, owner));
      if (deletionOf(open.document)) return NOTHING;
      const before = await readMemoryFiles(context.db, path);
      const all = [
        ...notesBeside(open, folder, before),
        ...notesAside(context, open, folder),
        ...notesApart(open, format),
        ...notesMet(open, format, context.now),
        ...(await notesHeld(context, open, { format, files, known: before })),
      ];
      const beside = all.filter(({ name }) => isOpen(name));
      if (mode !== "write") return { arrivals: [], notes: beside };
      const isIndexOpen = index !== undefined && isOpen(index);
      const at = { folder: path, format, files };
      const full = isIndexOpen ? await addIndexLines(context, open, at) : [];
      const known = await readMemoryFiles(context.db, path);
      const planned = planArrivals(open, { format, files, known, isOpen });
      const notes = [...full, ...planned.notes, ...beside];
      return { arrivals: planned.arrivals, notes };
    });
  }

  /** By the rules of the followed file, for what is in a project's own folder. */
  async #permit(
    { git, link, isDue }: SeenFolder,
    arrivals: readonly MemoryArrival[],
  ): Promise<{ readonly arrivals: readonly Permitted[]; readonly notes: readonly MemoryNote[] }> {
    if (!link) return { arrivals: arrivals.map((each) => ({ ...each, isDue })), notes: [] };
    const missing = arrivals.filter(({ expectedHash }) => expectedHash === ABSENT_HASH);
    const free = missing.flatMap(({ name }) => (git.of(name) === "free" ? [name] : []));
    const ignored = await git.ignored(free);
    const making = {
      ignored: askOnce(() => git.making(true)),
      other: askOnce(() => git.making(false)),
    };
    const permitted: Permitted[] = [];
    const notes: MemoryNote[] = [];
    for (const arrival of arrivals) {
      const { name, expectedHash, isAskedFor } = arrival;
      const isMissing = expectedHash === ABSENT_HASH;
      const isTracked = git.of(name) !== "free";
      const needsYes = isTracked || (isMissing && !ignored.has(name));
      if (needsYes && !link.write && !isAskedFor) {
        notes.push({ name, why: { code: isTracked ? "memory-tracked" : "memory-unasked" } });
        continue;
      }
      const made = isMissing
        ? await (ignored.has(name) ? making.ignored : making.other)()
        : undefined;
      if (made && "code" in made) notes.push({ name, why: made });
      else {
        const isStill = made?.isStill ?? (async () => true);
        permitted.push({ ...arrival, isDue: async () => (await isDue()) && (await isStill()) });
      }
    }
    return { arrivals: permitted, notes };
  }

  async #write(folder: SeenFolder, arrival: Permitted): Promise<Reason | undefined> {
    const { store, world, came, told, late } = this.#options;
    const { path, format, owner } = folder;
    const { name, next, isDue } = arrival;
    const outcome = await writeMemoryFile({ ...folder, isDue }, arrival, world);
    if (outcome.kind === "refused") return outcome.why;
    if (outcome.kind === "changed") return undefined;
    try {
      const former = (await readMemoryFiles(store.reader, path)).get(name);
      await store.write(async ({ db }) => {
        await putMemoryFile(db, path, { ...shownBy(former, name), ...next });
        // A file that was not there nobody has read before.
        if (name !== format.index && !former?.text) return;
        const change = { from: former?.text ?? "", to: next.text, isOwn: false };
        await came.note(db, join(path, name), change);
        if (name === format.index) await told.noteWritten(db, join(path, name), change);
        if (former) await came.noteShown(db, join(path, name), former.seen);
      });
      if (outcome.replaced && former) {
        const at = { folder: path, format, name, address: documentOf(this.#options, owner) };
        await late.add(outcome.replaced, { ...at, base: former });
      } else await outcome.replaced?.close();
    } catch (thrown) {
      await outcome.replaced?.close();
      throw thrown;
    }
    return undefined;
  }

  /** Removes the files whose deletion somebody has agreed to. */
  async #remove({ path, files, git, isDue, format, owner }: SeenFolder): Promise<void> {
    const { store, world } = this.#options;
    for (const [name, known] of await readMemoryFiles(store.reader, path)) {
      const file = files.get(name);
      const isAgreed = known.settled === "delete" && known.asked === "deleted";
      if (!isAgreed || file?.kind !== "text" || git.of(name) === "left") continue;
      const { hash } = known;
      if (file.hash !== hash || !(await isDue())) continue;
      if (!(await removeMemoryFile(join(path, name), { hash, world }))) continue;
      await store.write(async (context) => {
        const open = await context.open(documentOf(this.#options, owner));
        const deletions = deletionsIn(open, keyOfName(format, name));
        await leaveDeletedFile(context.db, path, { name, deletions });
      });
    }
  }
}

/** What is left of what was known of a file, once it is written. */
function shownBy(former: MemoryFile | undefined, name: string) {
  return { name, arrivedAt: former?.arrivedAt, tracked: former?.tracked };
}

function askOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}

/** An index whose versions can't be brought together. */
function notesApart(open: OpenDocument, format: FolderFormat): MemoryNote[] {
  const { index } = format;
  if (index === undefined || !isApart(open, keyOfName(format, index))) return [];
  return [{ name: index, why: { code: "memory-index-apart" } }];
}

/** Both versions of a line that two sides have rewritten stand in an index. */
function notesMet({ document }: OpenDocument, { index, ...format }: FolderFormat, now: number) {
  if (index === undefined) return [];
  const key = keyOfName(format, index);
  const [current] = standingIndexes(document, key);
  if (!current) return [];
  const met = metIn(document, { key, text: String(current.value), ids: [current.id] });
  return met.flatMap(({ lines: [line, other], at }): MemoryNote[] => {
    return now - at < MET_MS ? [{ name: index, why: { code: "lines-met", line, other } }] : [];
  });
}

/**
 * Tracked files with others' version, where what was written here is a conflict: whoever commits
 * such a file takes out of the branch what may have been committed before.
 */
function notesAside(
  { db }: WriteContext<DaemonTables>,
  open: OpenDocument,
  { format, files, git }: SeenFolder,
): MemoryNote[] {
  const isOwn = (entry: Entry) => machineThatWrote(db, open, entry) === open.writer.machine;
  return [...files].flatMap(([name, file]) => {
    const [current, ...others] = open.document.memories.get(keyOfName(format, name));
    const isCurrent = file.kind === "text" && file.content === current?.value;
    if (!isCurrent || typeof git.of(name) !== "object" || isOwn(current)) return [];
    const isElse = (entry: Entry) => isOwn(entry) && entry.value !== current.value;
    return others.some(isElse) ? [{ name, why: { code: "memory-aside-in-git" } }] : [];
  });
}

/** Texts that git has put into files, and that are not what the memories have. */
function notesBeside(
  { document }: OpenDocument,
  { format, files }: SeenFolder,
  known: ReadonlyMap<string, MemoryFile>,
): MemoryNote[] {
  return [...known.values()].flatMap(({ name, hash, text, isGits, seen }) => {
    const file = files.get(name);
    const [current] = document.memories.get(keyOfName(format, name));
    const isShown = file?.kind === "text" && file.hash === hash;
    if (!isGits || seen.length === 0 || !isShown || current?.value === text) return [];
    return [{ name, why: { code: "memory-as-in-git" } }];
  });
}
