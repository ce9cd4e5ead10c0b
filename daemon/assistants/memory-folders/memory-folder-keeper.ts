import { dirname, join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { Reason, ReasonCode } from "../../../shared/reasons.ts";
import { deletionOf } from "../../../shared/replica/document/project-deletion.ts";
import { LineArrivals } from "../../files/arrivals/line-arrivals.ts";
import { ToldLines } from "../../files/arrivals/told-lines.ts";
import { LinkedPlace } from "../../files/names/linked-place.ts";
import { clearBegunWrite, finishBegunWrite } from "../../files/saves/begun-write.ts";
import type { FileContent } from "../../files/state/file-edit.ts";
import { FileGlimpses } from "../../files/state/file-glimpses.ts";
import { forgetGlimpses } from "../../home/kept-glimpses.ts";
import {
  findFolderCommit,
  findMemoryFile,
  isNeverFilled,
  type MemoryFile,
  type MemoryOwner,
  NEVER_SHOWN,
  putFolderCommit,
  putMemoryFile,
  putMemoryFolder,
  readMemoryFiles,
} from "../../home/memory-files.ts";
import { readHead } from "../../home/read-head.ts";
import { forgetWaiting } from "../../home/waiting-since.ts";
import type { WhyIgnored } from "../../ignored/ignore-file.ts";
import { askGit } from "./ask-git.ts";
import { FolderGit, NOT_IN_GIT } from "./folder-in-git.ts";
import { takeIgnoredIn } from "./ignored-in-folder.ts";
import { standingIndexes } from "./index-lineage.ts";
import type { LateMemorySaves } from "./late-memory-saves.ts";
import type { MemoryFolderStatus } from "./memory-folder-status.ts";
import { documentOf, type KeptFolder, type MemoryKeeperOptions } from "./memory-keeper-options.ts";
import { MemoryLines } from "./memory-lines.ts";
import { clashesAmong, keyOfName } from "./memory-names.ts";
import { topicsFirst, withoutMissing } from "./missing-topics.ts";
import type { MemoryNote } from "./plan-arrivals.ts";
import { findPutBack } from "./put-back-text.ts";
import {
  type FolderRead,
  type Glance,
  MemoryFolderReader,
  type MemoryRead,
  type MemoryText,
} from "./read-memory-folder.ts";
import { shownBytes } from "./shown-bytes.ts";
import { type SeenByGit, takeMemoryFile } from "./take-memory-file.ts";
import { mayBeHalf, UnfinishedMemories } from "./unfinished-memories.ts";
import { withoutGitEndings } from "./without-git-endings.ts";
import { MemoryFolderWriter, type SeenFolder } from "./write-memory-folder.ts";

/** A folder that has not changed is not looked into again for this time. */
const FOLDER_REREAD_MS = 60_000;

/** What the keeper of single folders works with. */
export interface FolderKeeperOptions extends MemoryKeeperOptions {
  readonly late: LateMemorySaves;
  /** True: nothing more is to be begun. */
  readonly isStopped: () => boolean;
  /** Called when an event has told of a save. */
  readonly look: () => void;
}

/** A folder in which there is nothing to do. */
interface QuietFolder {
  readonly sign: string;
  /** By the steady clock. */
  readonly at: number;
  /** Undefined: there is nothing to tell. */
  readonly status: MemoryFolderStatus | undefined;
}

/** A file to be taken, with what is known of it. */
interface ToTake {
  readonly name: string;
  readonly read: MemoryRead | undefined;
  readonly former: MemoryFile | undefined;
}

/** What an index had until a look. */
interface MissedTexts extends Pick<ToTake, "former"> {
  readonly seen: readonly FileContent[];
  readonly file: MemoryText | undefined;
}

/** A file's text, as an edit of what is known of it. */
interface GivenText extends Pick<ToTake, "name" | "former"> {
  readonly file: MemoryText | undefined;
  readonly git: SeenByGit | undefined;
  readonly isBegunAnew: boolean;
  /** A topic of the folder is an earlier version again. */
  readonly isPutBack: boolean;
}

/**
 * Keeps the memories of single folders in step with their files, look after look; see
 * `MemoryKeeper`.
 */
export class MemoryFolderKeeper {
  readonly #options: FolderKeeperOptions;
  readonly #reader: MemoryFolderReader;
  readonly #writer: MemoryFolderWriter;
  readonly #unfinished: UnfinishedMemories;
  readonly #came: LineArrivals;
  readonly #lines: MemoryLines;
  readonly #glimpses: FileGlimpses;
  /** Folders in which there was nothing to do, and what they were like. */
  #quiet = new Map<string, QuietFolder>();
  readonly #inGit = new Map<string, FolderGit>();

  constructor(options: FolderKeeperOptions) {
    const { world } = options;
    this.#options = options;
    this.#reader = new MemoryFolderReader(world);
    this.#unfinished = new UnfinishedMemories(options);
    this.#came = new LineArrivals(world);
    const told = new ToldLines(world);
    this.#lines = new MemoryLines({ ...options, came: this.#came, told });
    this.#glimpses = new FileGlimpses({ ...options, events: options.events });
    this.#writer = new MemoryFolderWriter({ ...options, came: this.#came, told });
  }

  /** Looks again also into folders that have not changed. */
  forgetQuiet(): void {
    // A look in the midst of which somebody has decided something still has the former one.
    this.#quiet = new Map();
  }

  /** Resolves when nothing is being read of which an event told. */
  async glimpsed(): Promise<void> {
    await this.#glimpses.settled();
  }

  /** Listens to no folder any more but these. */
  async close(but: ReadonlySet<string> = new Set()): Promise<void> {
    await this.#glimpses.keep((path) => but.has(dirname(path)));
  }

  /** Undefined where there is nothing to tell. */
  async lookAt(folder: KeptFolder): Promise<MemoryFolderStatus | undefined> {
    const { path, owner, format, isNew, link, movedTo } = folder;
    const { store, world, links } = this.#options;
    const none = { files: 0, asked: [], notes: [], git: undefined } as const;
    const about = { path, kind: format.kind, owner, ...none, movedTo };
    // A folder that was removed, unmounted or replaced says nothing of the memories.
    const linked = link && new LinkedPlace(link, store, this.#options.git);
    const place = await linked?.check();
    if (place && place.kind !== "here") return isNew ? undefined : { ...about, why: place.why };
    const ofGit = link && this.#gitOf(path);
    const glance = await this.#reader.glance(folder);
    const sign = await this.#signOf(folder, glance, ofGit);
    const quietFolders = this.#quiet;
    const quiet = quietFolders.get(path);
    if (quiet && sign === quiet.sign && world.monotonic() - quiet.at < FOLDER_REREAD_MS) {
      return quiet.status;
    }
    quietFolders.delete(path);
    await store.write(({ db }) => putMemoryFolder(db, path, { owner, kind: format.kind }));
    const before = await readMemoryFiles(store.reader, path);
    const { index } = format;
    const first = index === undefined ? [] : await this.#glimpses.seen(join(path, index));
    const read = await this.#reader.read(folder, before);
    const glimpsed = index === undefined ? [] : await this.#glimpsedBefore(folder, first, read);
    if (read.kind === "problem") return { ...about, why: read.why };
    const git = ofGit ? await ofGit.look(glance.sign, linked?.isFromGit === true) : NOT_IN_GIT;
    // Only now: what is named before a file is saved counts for that save.
    const ignored = await takeIgnoredIn(store, links(), folder);
    const isHere = async () => !linked || (await linked.check()).kind === "here";
    const isDue = async () => (await ofGit?.isAsAtLook()) !== false && (await isHere());
    const files = await withoutGitEndings(read.files, git);
    const seen = { ...folder, files, whyIgnored: ignored.why, git, isDue };
    const notes = await this.#take(seen, glimpsed);
    await this.#lines.settle(seen);
    const arrivals = await this.#writer.write(seen);
    const known = await readMemoryFiles(store.reader, path);
    const asked = [...known.values()].flatMap(({ name, asked: what, settled }) => {
      return what && !settled && !ignored.why(name) ? [{ name, asked: what }] : [];
    });
    const told = await this.#lines.told(seen, known);
    const all = [...notes, ...clashNotes(seen), ...arrivals.notes, ...told];
    const isNothing = isNew && known.size === 0 && all.length === 0;
    const found = { ...about, files: known.size, asked, notes: all, git: git.why, why: undefined };
    const status = isNothing ? undefined : found;
    const open = new Map([...read.files].filter(([name]) => !isLeft(seen, name)));
    const isDone =
      arrivals.written === 0 && ![...all.map(({ why }) => why), git.why].some(isPassing);
    const isAllSeen = [...open].every(([name, file]) => {
      const isAsShown = file.kind === "text" && file.hash === known.get(name)?.hash;
      return !isAsShown || this.#came.isAllSeen(join(path, name));
    });
    if (sign !== undefined && isDone && isAllSeen && isAllTaken(open, known)) {
      quietFolders.set(path, { sign, at: world.monotonic(), status });
    }
    return status;
  }

  /**
   * What an index had before it was read. What came since is taken by the next look. `first`: what
   * was seen before the reading began, whatever the times of the files say: an older one may have
   * been put back with its own.
   */
  async #glimpsedBefore(
    { path, format: { index = "" } }: KeptFolder,
    first: readonly FileContent[],
    read: FolderRead,
  ): Promise<FileContent[]> {
    const seen = await this.#glimpses.seen(join(path, index));
    const file = read.kind === "files" ? read.files.get(index) : undefined;
    return seen.filter((each) => {
      return first.includes(each) || file?.kind !== "text" || each.savedAt <= file.savedAt;
    });
  }

  #gitOf(path: string): FolderGit {
    const { git, world } = this.#options;
    const known = this.#inGit.get(path) ?? new FolderGit(git, world, path);
    this.#inGit.set(path, known);
    return known;
  }

  /** Equal as long as neither the folder nor the memories changed; undefined: nobody can tell. */
  async #signOf(
    folder: KeptFolder,
    { sign, isPast }: Glance,
    ofGit: FolderGit | undefined,
  ): Promise<string | undefined> {
    if (!isPast) return undefined;
    const { store, links } = this.#options;
    const address = documentOf(this.#options, folder.owner);
    const head = await readHead(store.reader, address);
    const ignored = await takeIgnoredIn(store, links(), folder);
    const { mode, link } = folder;
    const ofTree = await ofGit?.sign();
    const ofHome = [mode, link?.write, address, head ?? null, ignored.sign];
    return JSON.stringify([ofHome, sign, ofTree]);
  }

  /** Takes what the files have into the document, each by itself. */
  async #take(seen: SeenFolder, glimpsed: readonly FileContent[]): Promise<MemoryNote[]> {
    const { path, files, format } = seen;
    const { store, log, isStopped } = this.#options;
    const known = await readMemoryFiles(store.reader, path);
    const commit = await findFolderCommit(store.reader, path);
    const notes: MemoryNote[] = [];
    const gone = [...known.keys()].filter((name) => !files.has(name) && !isLeft(seen, name)).length;
    const isBegunAnew = gone > 1 && 2 * gone > known.size;
    const isPutBack = await this.#lines.isPutBack(seen, known);
    for (const name of topicsFirst(new Set([...files.keys(), ...known.keys()]), format)) {
      if (isStopped()) return notes;
      const at = join(path, name);
      const former = known.get(name);
      const each = { name, read: files.get(name), former };
      const why = (await this.#finish(seen, each)) ?? (await this.#whyNotTaken(seen, each));
      if (why !== undefined) {
        // What is ignored now stays here, also later.
        if (name === format.index && isLeft(seen, name)) {
          await this.#missedBefore(at, { seen: glimpsed, former, file: undefined });
        }
        if (why !== "silently") notes.push({ name, why });
        continue;
      }
      const read = each.read?.kind === "text" ? each.read : undefined;
      const unfinished = { name, why: { code: "being-written" } } as const;
      if (this.#unfinished.isJustEmptied(at, each.former, read)) {
        notes.push(unfinished);
        continue;
      }
      const file = withoutEmptied(read);
      if (read && !file && isNeverFilled(former)) {
        // It says nothing. What others have goes into it, as into a file that is not there.
        const known = { name, ...NEVER_SHOWN };
        if (!former) await store.write(({ db }) => putMemoryFile(db, path, known));
        continue;
      }
      try {
        const isIndex = name === format.index;
        const index = { seen: glimpsed, former, file };
        const missed = isIndex ? await this.#missedBefore(at, index) : [];
        const isMissed = missed.some(({ hash }) => hash !== file?.hash);
        const now = isMissed ? await this.#takeMissed(seen, name, missed) : former;
        const given = { ...each, file, former: now };
        if (file && (await this.#isUnfinished(seen, { ...given, file }))) {
          notes.push(unfinished);
          continue;
        }
        const git = await askGit(seen.git, given, commit);
        await this.#takeText(seen, { ...given, git, isBegunAnew, isPutBack });
      } catch (thrown) {
        const said = messageOf(thrown);
        log.warn({ path: at, reason: said }, "a memory file was not taken");
        notes.push({ name, why: { code: "look-failed", said } });
      }
    }
    const now = seen.git.commit;
    if (now !== undefined && now !== commit && !notes.some(({ why }) => isPassing(why))) {
      await store.write(({ db }) => putFolderCommit(db, path, now));
    }
    return notes;
  }

  /** What an index had before the look read `file`, and nobody has taken. */
  #missedBefore(
    path: string,
    { seen, former, file }: MissedTexts,
  ): Promise<readonly FileContent[]> {
    const known = [former, former?.next].flatMap((each) => each?.hash ?? []);
    const isNeeded = ({ content }: FileContent) => !exceedsBytes(content, LIMITS.memoryValueBytes);
    return this.#glimpses.missed(path, { seen, known, read: file?.hash, isNeeded });
  }

  /**
   * Takes what an index had between two looks, each save as an edit of the one before. Returns what
   * it shows then.
   */
  async #takeMissed(
    seen: SeenFolder,
    name: string,
    missed: readonly FileContent[],
  ): Promise<MemoryFile | undefined> {
    const { store } = this.#options;
    const { reader } = store;
    for (const { content, hash, savedAt } of missed) {
      const former = await findMemoryFile(reader, seen.path, name);
      // While somebody is asked, or after a kill, no text is an edit of the one before.
      const isOpen = former?.asked ?? former?.settled ?? former?.next;
      if (isOpen) break;
      const file = { kind: "text", content, hash, savedAt } as const;
      const unseen = await this.#came.unseen(reader, join(seen.path, name), savedAt);
      // The end of it is in a later text.
      if (mayBeHalf({ former, file, unseen })) continue;
      const given = { name, file, former, git: undefined, isBegunAnew: false, isPutBack: false };
      await this.#takeText(seen, given);
    }
    const hashes = new Set(missed.map(({ hash }) => hash));
    const isOver = (hash: string) => hashes.has(hash);
    await store.write(({ db }) => forgetGlimpses(db, join(seen.path, name), isOver));
    return await findMemoryFile(reader, seen.path, name);
  }

  async #takeText(
    { path, owner, format, mode }: SeenFolder,
    { name, file, former, git, isBegunAnew, isPutBack }: GivenText,
  ): Promise<void> {
    const at = join(path, name);
    await this.#options.store.write(async (context) => {
      const isAsShown = former !== undefined && former.hash === file?.hash;
      if (isAsShown) await this.#came.noteSeen(context.db, at, former.text);
      await forgetWaiting(context.db, at);
      if (file) await forgetGlimpses(context.db, at, (hash) => hash === file.hash);
      const open = await context.open(documentOf(this.#options, owner));
      if (deletionOf(open.document)) return;
      // What git has put there is no save of anybody.
      const saved = git?.committed || former?.hash === file?.hash ? undefined : file;
      const isIndex = name === format.index;
      const key = keyOfName(format, name);
      const asked = saved && { key, former, file: saved, mayBeSingle: isIndex && !isPutBack };
      const putBack = asked && (await findPutBack(context.db, open, asked));
      const came = saved ? await this.#came.unseen(context.db, at, saved.savedAt) : [];
      const since = await this.#lines.disputed(context.db, at, putBack?.since ?? []);
      const unseen = [
        ...came,
        ...since.filter(({ line }) => !came.some((each) => each.line === line)),
      ];
      const seenBefore = saved && (await this.#came.shownBefore(context.db, at, saved.savedAt));
      // Of two versions of a topic the later one counts.
      const asOld = file && putBack && !isIndex ? { ...file, savedAt: putBack.savedAt } : file;
      const from = { folder: path, format, name, file: asOld, git };
      await takeMemoryFile(context, open, { ...from, isBegunAnew, unseen, seenBefore });
      if (!saved) return;
      const [current] = standingIndexes(open.document, key);
      const known = await readMemoryFiles(context.db, path);
      const value = String(current?.value ?? "");
      const here = isIndex ? withoutMissing(open.document, { format, known }, value) : value;
      const standing = mode === "write" ? undefined : here;
      const change = { name, former, file: saved, isIndex, unseen, since, standing };
      await this.#lines.noteTaken(context.db, path, change);
    });
    // This look may write another text over it, by which the next one knows the file.
    const taken = await findMemoryFile(this.#options.store.reader, path, name);
    if (file && taken?.hash === file.hash) this.#glimpses.markTaken(at, file.hash);
  }

  async #isUnfinished(
    { path, format }: SeenFolder,
    { name, file, former }: Omit<ToTake, "read"> & { readonly file: MemoryText },
  ): Promise<boolean> {
    const at = join(path, name);
    const isAsked = name === format.index && former !== undefined && former.hash !== file.hash;
    // An index keeps them in any case.
    const unseen = isAsked
      ? await this.#came.unseen(this.#options.store.reader, at, file.savedAt)
      : [];
    return await this.#unfinished.isUnfinished(at, { former, file, unseen });
  }

  /** Ends a write that a crash interrupted. Says why the file can't be taken in this look. */
  async #finish(
    seen: SeenFolder,
    { name, former: base }: ToTake,
  ): Promise<Reason | "silently" | undefined> {
    if (!base?.next || isLeft(seen, name)) return undefined;
    const { path, owner, format } = seen;
    const { late, log } = this.#options;
    const at = join(path, name);
    const write = { path: at, former: shownBytes(base), intended: shownBytes(base.next) };
    const of = { folder: path, format, name, address: documentOf(this.#options, owner), base };
    const takeLate = ({ content, hash, savedAt }: FileContent) =>
      late.takeLeft(of, { kind: "text", content, hash, savedAt });
    try {
      // What was read of the file is the mix.
      if (await finishBegunWrite(write)) return "silently";
      await clearBegunWrite({ ...write, takeLate });
      return undefined;
    } catch (thrown) {
      const said = messageOf(thrown);
      log.warn({ path: at, reason: said }, "a write of a memory file was not finished");
      return { code: "look-failed", said };
    }
  }

  /** `silently`: git has it for now, which is told of the folder. */
  async #whyNotTaken(
    { path, owner, format, git, whyIgnored }: SeenFolder,
    { name, read, former }: ToTake,
  ): Promise<Reason | "silently" | undefined> {
    const ignored = whyIgnored(name);
    if (ignored) {
      // What others have under its key is none of this file's.
      if (!former) return read ? ignored : "silently";
      return read ? await this.#sayIgnored(owner, keyOfName(format, name), ignored) : "silently";
    }
    if (read?.kind === "problem") return read.why;
    if (git.of(name) !== "left") return undefined;
    if (former && former.tracked === undefined && git.tracks(name)) {
      // Wherever git takes it from here, that is no deletion.
      const noted = { ...former, tracked: "" };
      await this.#options.store.write(({ db }) => putMemoryFile(db, path, noted));
    }
    return "silently";
  }

  /** What was sent before a file was ignored stays until somebody deletes it. */
  async #sayIgnored(owner: MemoryOwner, key: string, why: WhyIgnored): Promise<Reason> {
    if (why.code !== "ignored") return why;
    const isSent = await this.#options.store.write(async (context) => {
      const { document } = await context.open(documentOf(this.#options, owner));
      return document.memories.get(key).length > 0;
    });
    const layer = owner === "user" ? " --layer user" : "";
    return isSent ? { code: "ignored-sent", command: `memsync rm ${key}${layer}` } : why;
  }
}

function isLeft({ git, whyIgnored }: SeenFolder, name: string): boolean {
  return git.of(name) === "left" || whyIgnored(name) !== undefined;
}

/** Both files are read; on a system that takes their names for the same there is only one. */
function clashNotes(seen: SeenFolder): MemoryNote[] {
  const open = [...seen.files].flatMap(([name, { kind }]) => {
    return kind === "text" && !isLeft(seen, name) ? [name] : [];
  });
  return [...clashesAmong(open)].map(([name, other]) => {
    return { name, why: { code: "memory-clash", other } };
  });
}

const PASSING: readonly ReasonCode[] = ["look-failed", "not-now", "wait-tree", "being-written"];

/** Whether the same look may have another end in a moment. */
function isPassing(why: Reason | undefined): boolean {
  return why !== undefined && PASSING.includes(why.code);
}

/** Whether no file waits for anything but a decision. */
function isAllTaken(
  files: ReadonlyMap<string, MemoryRead>,
  known: ReadonlyMap<string, MemoryFile>,
): boolean {
  const isSame = [...files].every(([name, file]) => {
    const { hash, held } = known.get(name) ?? {};
    return file.kind === "problem" || file.hash === hash || file.hash === held;
  });
  return (
    isSame &&
    [...known.values()].every(({ settled, next, arrivedAt }) => {
      return settled === undefined && next === undefined && arrivedAt === undefined;
    })
  );
}

/** Whoever empties a file is about to write it, or has lost it. Nothing is deleted for that. */
function withoutEmptied(read: MemoryText | undefined): MemoryText | undefined {
  return read?.content.trim() === "" ? undefined : read;
}
