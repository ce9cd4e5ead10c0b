import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store.ts";
import type { Timer, World } from "../../shared/world.ts";
import type { Link } from "../links.ts";
import type { DaemonTables } from "../tables.ts";
import { ArrivalClock } from "./arrival-clock.ts";
import { clearBegunWrite, finishBegunWrite } from "./begun-write.ts";
import type { FileContent } from "./file-edit.ts";
import { noteWritten } from "./note-arrival.ts";
import { isWithoutText, type Readable, type Sight } from "./follow-facts.ts";
import { otherFileNote, type Unfollowed, unfollowedNote } from "./follow-notes.ts";
import type { FileState } from "./file-state.ts";
import {
  type CheckedOut,
  type FollowedState,
  readFollowed,
  writeFollowed,
} from "./follow-store.ts";
import { readFilePast } from "./git-past.ts";
import type { Head } from "./git-refs.ts";
import { type FileStanding, fileStanding, readHeadText } from "./git-state.ts";
import { Grace } from "./grace.ts";
import { holdUnread } from "./held-save.ts";
import { readKnownCommits } from "./known-commits.ts";
import { LateSaves } from "./late-saves.ts";
import { LinkedPlace } from "./linked-place.ts";
import { type NotKept, notKeptNote } from "./not-kept.ts";
import {
  FOLLOWED_PATHS,
  type FileRead,
  readFileAt,
  readFollowedFile,
  textOf,
} from "./read-file.ts";
import { QUIET_MS, readTrackedText, type Sighting } from "./read-tracked-text.ts";
import { type Git, GitTrouble } from "./run-git.ts";
import { takeLateSave } from "./take-late-save.ts";
import { takeSight, type ToWrite } from "./take-sight.ts";
import { replaceFile } from "./write-file.ts";

export interface FollowerOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly git: Git;
  readonly account: string;
  /** Name of the service whose first answer a file waits for. */
  readonly service: string;
  /** Called at each look at a folder that is not where it was linked. */
  readonly onGone?: (link: Link) => void;
}

/** What `status` shows of a followed file. */
export interface FollowStatus {
  readonly path: string;
  /** `failing`: nobody can say how its text stands to what is synced. */
  readonly state: "followed" | "upwards" | "waiting" | "held" | "left alone" | "failing";
  /** Why, in words that follow the path. */
  readonly note: string | undefined;
}

/** What a look at the file found to do next. */
interface Look {
  readonly status: FollowStatus;
  /** Look again after this long, whatever happens; `later`: less and less often. */
  readonly againMs?: number | "later";
}

/**
 * Follows one folder's description document: takes saves into the replica by whole lines, and
 * writes what others changed back where that is allowed. Looks are made one after another.
 */
export class FollowedFile {
  readonly link: Link;
  readonly #options: FollowerOptions;
  readonly #lateSaves: LateSaves;
  readonly #place: LinkedPlace;
  readonly #grace: Grace;
  readonly #arrivals: ArrivalClock;
  #status: FollowStatus = { path: "CLAUDE.md", state: "waiting", note: "not looked at yet" };
  #looking: Promise<void> | undefined;
  #wanted = false;
  #timer: Timer | undefined;
  #stopped = false;
  #sighting: Sighting | undefined;
  #againMs = 0;
  #notKept: readonly NotKept[] = [];
  /** Another file that could be followed, found where the followed one is missing. */
  #other: string | undefined;

  constructor(link: Link, options: FollowerOptions) {
    this.link = link;
    this.#options = options;
    this.#lateSaves = new LateSaves(options.world, () => this.look());
    this.#grace = new Grace(options.world);
    this.#arrivals = new ArrivalClock(options.world);
    this.#place = new LinkedPlace(link, options.store, options.git);
  }

  get status(): FollowStatus {
    return this.#status;
  }

  /** Looks at the file now, or once more after the look that is under way. */
  look(): void {
    this.#wanted = true;
    if (this.#looking || this.#stopped) return;
    this.#timer?.cancel();
    this.#looking = this.#lookWhileWanted().finally(() => {
      this.#looking = undefined;
      if (this.#wanted) this.look();
    });
  }

  /** Resolves when no look is under way or wanted. */
  async settled(): Promise<void> {
    while (this.#looking) await this.#looking;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
    // What was saved into them since the last look is nowhere else.
    await this.#takeLateSaves().catch((thrown) => this.#failed(thrown));
    await this.#lateSaves.close();
  }

  async #lookWhileWanted(): Promise<void> {
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      const { status, againMs } = await this.#lookOnce().catch((thrown) => this.#failed(thrown));
      const afterMs = againMs === "later" ? this.#backOff(status) : againMs;
      this.#status = status;
      if (afterMs === undefined) continue;
      this.#timer?.cancel();
      this.#timer = this.#options.world.setTimer(afterMs, () => this.look());
    }
  }

  /** What is left alone may be so for days, and nearly always somebody tells when it ends. */
  #backOff({ note }: FollowStatus): number {
    const isNew = note !== this.#status.note;
    this.#againMs = isNew ? AGAIN_MS_MIN : Math.min(2 * this.#againMs, AGAIN_MS_MAX);
    return this.#againMs;
  }

  #failed(thrown: unknown): Look {
    const reason = messageOf(thrown);
    this.#options.log.error({ dir: this.link.dir, reason }, "a followed file was not taken");
    const { path } = this.#status;
    return { ...failing(path, reason), againMs: FAILED_AGAIN_MS };
  }

  async #lookOnce(): Promise<Look> {
    const { git, store } = this.#options;
    const { dir } = this.link;
    await this.#takeLateSaves();
    const found = await readFollowedFile(dir);
    const place = await this.#place.check(found);
    if (place.kind !== "here") {
      this.#grace.end();
      this.#options.onGone?.(this.link);
      const look = place.kind === "unknown" ? failing : leftAlone;
      return { ...look(found.path, place.note), againMs: "later" };
    }
    const stored = await readFollowed(store.reader, dir);
    if (stored?.next && (await finishBegunWrite({ dir, known: stored, next: stored.next }))) {
      return this.#lookAgain(stored.path);
    }
    const known = await this.#knownFor(stored, found);
    const read = missedAs(known, found);
    this.#other = found.kind === "text" && found.path !== read.path ? found.path : undefined;
    if (read.kind === "problem") return await this.#takeProblem(read);
    const { path } = read;
    const standing = await fileStanding(git, join(dir, path));
    if (!(await this.#isWhole(read, known))) return this.#lookAgain(path);
    if (known?.next) {
      const takeLate = this.#takeLate.bind(this);
      await clearBegunWrite({ dir, known, next: known.next, takeLate });
    }
    const sight = await this.#sightOf(read, standing, known?.path === path ? known : undefined);
    return "status" in sight ? sight : await this.#take(sight, known);
  }

  /** A file that is gone and was renamed, as it was, is followed under its other name. */
  async #knownFor(
    known: FollowedState | undefined,
    found: FileRead,
  ): Promise<FollowedState | undefined> {
    if (!known?.isGone || found.kind !== "text" || !isBehind(found.path, known.path)) return known;
    if (found.hash !== known.hash) return known;
    const renamed = { ...known, path: found.path };
    await this.#options.store.write(({ db }) => writeFollowed(db, this.link.dir, renamed));
    return renamed;
  }

  /** Programs write a file in steps: what is new is taken only once it is read twice the same. */
  async #isWhole(read: Readable, known: FollowedState | undefined): Promise<boolean> {
    if (read.kind === "absent" || read.hash === known?.hash) return true;
    const again = await readFileAt(this.link.dir, read.path);
    return again.kind === "text" && again.hash === read.hash;
  }

  #lookAgain(path: string): Look {
    this.#wanted = true;
    return { status: { path, state: "waiting", note: "is being written" } };
  }

  /** What git says of a file that was read, and of a tracked one what it brought there. */
  async #sightOf(
    read: Readable,
    standing: FileStanding,
    known: FollowedState | undefined,
  ): Promise<Sight | Look> {
    const nowhere = { past: undefined, committed: undefined };
    if (standing.kind !== "tracked" || !standing.onDefaultBranch) {
      return { file: read, standing, checkedOut: checkedOutOf(headOf(standing)), ...nowhere };
    }
    const guarded = await this.#readGuarded(standing, read.path);
    if ("status" in guarded) return guarded;
    const { file, head } = guarded;
    const checkedOut = checkedOutOf(head);
    const isSame = known !== undefined && known.checkedOut.commit === checkedOut.commit;
    if (isSame) return { file, standing, checkedOut, ...nowhere };
    const { account, store, git } = this.#options;
    const told = await readKnownCommits(store.reader, account, this.link.projectId);
    const past = await readFilePast(git, standing.file, head, {
      read: known?.checkedOut.commit,
      isKnown: known !== undefined,
      isTold: (commit) => told.has(commit),
    });
    const committed = await this.#committedText(standing, head.commit, file.path);
    return { file, standing, checkedOut, past, committed };
  }

  /** What the checked-out commit holds of a tracked file. */
  async #committedText({ file }: Tracked, commit: string | undefined, path: string) {
    const head = await readHeadText(this.#options.git, file, commit);
    if (head.kind === "unknown") throw new GitTrouble(head.reason);
    const text = head.kind === "text" ? textOf(path, head.bytes, 0) : undefined;
    return text?.kind === "text" ? text.content : undefined;
  }

  /** A tracked file's text, once it is sure to be the checked-out branch's. */
  async #readGuarded(standing: Tracked, path: string): Promise<Guarded | Look> {
    const { git, world } = this.#options;
    const read = await readTrackedText(git, world, standing.file, this.#sighting);
    this.#sighting = read.sighting;
    if (read.kind === "not-now") {
      const againMs = read.reason === "not-quiet" ? QUIET_MS : "later";
      return { status: { path, state: "waiting", note: read.detail }, againMs };
    }
    const { head } = read;
    if (head.branch !== standing.defaultBranch) return { status: this.#status, againMs: 0 };
    const text = read.bytes && textOf(path, read.bytes, read.savedAt ?? world.now());
    if (text?.kind === "problem") return await this.#takeProblem(text);
    return { file: text ?? { kind: "absent", path }, head };
  }

  async #takeProblem({ path, message, overLimit, unread }: FileProblem): Promise<Look> {
    if (unread) return { ...failing(path, message), againMs: "later" };
    if (!overLimit) return leftAlone(path, message);
    await this.#options.store.write((context) =>
      holdUnread(context, this.#options.account, this.link, message),
    );
    return heldLook(path, message);
  }

  /** Does what is decided, and writes the file where the document has more. */
  async #take(sight: Sight, known: FollowedState | undefined): Promise<Look> {
    const { account, service, store } = this.#options;
    const { path } = sight.file;
    const graceMs = this.#grace.left(isWithoutText(known, sight.file));
    const options = { account, service, link: this.link, clock: this.#arrivals, graceMs };
    const taken = await store.write((context) => takeSight(context, sight, options));
    switch (taken.kind) {
      case "unfollowed":
        return this.#unfollowed(taken.why, sight, graceMs);
      case "held":
        return heldLook(path, taken.why);
      case "write":
        return await this.#writeBack(path, taken);
      case "done":
        return { status: { path, state: this.#stateOf(sight), note: this.#noteOf(sight) } };
    }
  }

  #unfollowed(why: Unfollowed, { file: { path }, standing }: Sight, graceMs: number): Look {
    const note = unfollowedNote(why, standing);
    if (why === "wait-service") return { status: { path, state: "waiting", note } };
    if (why === "wait-grace") return { status: { path, state: "waiting", note }, againMs: graceMs };
    if (why === "leave-unknown") return { ...failing(path, note), againMs: "later" };
    if (why === "gone" && this.#other !== undefined) {
      return leftAlone(path, `${note}; ${otherFileNote(this.#other)}`);
    }
    return { ...leftAlone(path, note), ...(why === "leave-busy" && { againMs: "later" as const }) };
  }

  #noteOf({ file }: Sight): string | undefined {
    if (file.kind === "absent") return "is not there, and the document has no text";
    return notKeptNote(this.#notKept);
  }

  #stateOf({ standing }: Sight): FollowStatus["state"] {
    return standing.kind === "tracked" && !this.link.write ? "upwards" : "followed";
  }

  #takeLateSaves(): Promise<void> {
    return this.#lateSaves.take((base, file) => this.#takeLate(base, file));
  }

  async #takeLate(base: FileState, file: FileContent): Promise<FileState> {
    const { account, store } = this.#options;
    const options = { account, link: this.link, clock: this.#arrivals };
    return await store.write((context) => takeLateSave(context, base, file, options));
  }

  /** The intended state is stored already, so a crash between here and the end is understood. */
  async #writeBack(path: string, { from, to, content }: ToWrite): Promise<Look> {
    const { account, store, world } = this.#options;
    const { dir } = this.link;
    const outcome = await replaceFile(join(dir, path), content, from.hash, world);
    if (outcome.kind !== "written") {
      await store.write(({ db }) => writeFollowed(db, dir, from));
    } else {
      this.#notKept = outcome.notKept;
      if (outcome.replaced) await this.#lateSaves.add(outcome.replaced, from);
      await store.write(async (context) => {
        await noteWritten(context, from, to, { account, link: this.link, clock: this.#arrivals });
        await writeFollowed(context.db, dir, { ...from, ...to });
      });
    }
    this.#wanted = true;
    return { status: { path, state: "followed", note: undefined } };
  }
}

const FAILED_AGAIN_MS = 5000;
const AGAIN_MS_MIN = 1000;
const AGAIN_MS_MAX = 60_000;

type Tracked = Extract<FileStanding, { kind: "tracked" }>;
type FileProblem = Extract<FileRead, { kind: "problem" }>;

/** A text that is surely that of a commit, which was checked out when it was read. */
interface Guarded {
  readonly file: Readable;
  readonly head: Head;
}

/** Where the file that was followed is not found, it is that one that is missing. */
function missedAs(known: FollowedState | undefined, found: FileRead): FileRead {
  if (!known) return found;
  const isInItsPlace = known.base.text.trim() !== "" && isBehind(found.path, known.path);
  return found.kind === "absent" || isInItsPlace ? { kind: "absent", path: known.path } : found;
}

/** Whether a file is followed only where the other is not there. */
function isBehind(path: string, other: string): boolean {
  const paths: readonly string[] = FOLLOWED_PATHS;
  return paths.indexOf(path) > paths.indexOf(other);
}

function headOf(standing: FileStanding): Head | undefined {
  if (standing.kind === "untracked") return standing.head;
  return standing.kind === "tracked" ? standing : undefined;
}

function checkedOutOf(head: Head | undefined): CheckedOut {
  if (!head) return { commit: undefined, head: undefined };
  return { commit: head.commit, head: `${head.branch ?? ""} ${head.commit ?? ""}` };
}

function heldLook(path: string, note: string): Look {
  return { status: { path, state: "held", note } };
}

function leftAlone(path: string, note: string): Look {
  return { status: { path, state: "left alone", note } };
}

function failing(path: string, note: string): Look {
  return { status: { path, state: "failing", note } };
}
