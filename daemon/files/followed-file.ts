// A followed file: looks at it, has the decision made, and writes it.
// `followers.ts` makes one for each linked file; docs/design/files.md has the rules.

import { join } from "node:path";
import { utf8Bytes } from "../../shared/limits.ts";
import { isSameReason, type NotKept, type Reason } from "../../shared/reasons.ts";
import { unforeseen } from "../../shared/sqlite/failures.ts";
import type { Timer } from "../../shared/world.ts";
import { isOpenToWrite } from "../disk/open-to-write.ts";
import { type FileRead, readFileAt } from "../disk/read-file.ts";
import { replaceFile } from "../disk/write-file.ts";
import { type FileStanding, fileStanding } from "../git/git-state.ts";
import { quietLeft } from "../git/read-tracked-text.ts";
import type { Link } from "../home/links.ts";
import { ArrivalClock } from "./arrivals/arrival-clock.ts";
import { CountedFile } from "./counted-file.ts";
import type { FollowerOptions } from "./follower-options.ts";
import type { FileState } from "./lines/file-state.ts";
import { alsoNameOf, folderOf } from "./names/also-file.ts";
import { LinkedPlace } from "./names/linked-place.ts";
import { TREE_MADE, TreeGuard, type TreeReadiness } from "./names/tree-guard.ts";
import { begunIn, clearBegunWrite, finishBegunWrite } from "./saves/begun-write.ts";
import { LateSaves } from "./saves/late-saves.ts";
import { noteWritten } from "./saves/note-arrival.ts";
import { OvertakenSaves } from "./saves/overtaken-saves.ts";
import { takeLateSave } from "./saves/take-late-save.ts";
import type { TakenSight, ToWrite } from "./saves/taken-sight.ts";
import type { FileContent } from "./state/file-edit.ts";
import { type FileLook, followedStatus, unfollowedLook } from "./state/file-look.ts";
import { isWithoutText, type Readable, type Sight, UNTOLD } from "./state/follow-facts.ts";
import {
  beingWritten,
  type FollowStatus,
  isEndUntold,
  statusOf,
  statusOfNotNow,
} from "./state/follow-status.ts";
import {
  type FollowedState,
  type MarkedText,
  noteMarked,
  readFollowed,
  writeFollowed,
} from "./state/follow-store.ts";
import { Glimpses } from "./state/glimpses.ts";
import { Grace } from "./state/grace.ts";
import { holdUnread } from "./state/held-save.ts";
import type { Overtaken } from "./state/save-history.ts";
import { UnfinishedText } from "./state/unfinished.ts";
import { takeSight } from "./take-sight.ts";
import { checkedOutAt, isElsewhere } from "./tracked/checked-out-at.ts";
import { lookAtMarks } from "./tracked/shown-by-git.ts";
import { TrackedSights } from "./tracked/tracked-sight.ts";

/**
 * Follows one folder's description document. Saves are taken into the replica by whole lines, and
 * others' changes are written back where that is allowed. One look at a time.
 */
export class FollowedFile {
  readonly link: Link;
  /** Where the link's files are. */
  readonly #folder: string;
  readonly #options: FollowerOptions;
  readonly #lateSaves: LateSaves;
  readonly #place: LinkedPlace;
  readonly #grace: Grace;
  readonly #arrivals: ArrivalClock;
  readonly #tracked: TrackedSights;
  readonly #tree: TreeGuard;
  readonly #counted: CountedFile;
  readonly #glimpses: Glimpses;
  readonly #overtaken: OvertakenSaves;
  readonly #unfinished: UnfinishedText;
  #status: FollowStatus;
  /** It gets nothing for lines that git moved, and that is logged. */
  #isAside = false;
  #looking: Promise<void> | undefined;
  #wanted = false;
  #timer: Timer | undefined;
  #stopped = false;
  #againMs = 0;
  #isTimed = false;
  #notKept: readonly NotKept[] = [];
  /** A write may have been made that is not noted: by a process that was killed, at first. */
  #isUnsure = true;

  constructor(link: Link, options: FollowerOptions) {
    this.link = link;
    this.#folder = folderOf(link);
    const place = { ...link, dir: this.#folder };
    this.#status = statusOf(alsoNameOf(link) ?? "CLAUDE.md", "waiting", { code: "not-looked-at" });
    this.#options = options;
    this.#lateSaves = new LateSaves(options.world, () => this.look());
    this.#grace = new Grace(options.world);
    this.#arrivals = new ArrivalClock(options.world);
    this.#place = new LinkedPlace(place, options.store, options.git);
    this.#tracked = new TrackedSights({ ...options, ...place });
    this.#tree = new TreeGuard(options);
    this.#counted = new CountedFile(link, options);
    this.#glimpses = new Glimpses(this.#folder);
    const here = { link, folder: this.#folder, glimpses: this.#glimpses };
    this.#overtaken = new OvertakenSaves({ ...options, ...here });
    const ask = options.isOpenToWrite ?? isOpenToWrite;
    const isOpen = () => ask(join(this.#folder, this.#status.path));
    this.#unfinished = new UnfinishedText({ world: options.world, isOpen });
  }

  get status(): FollowStatus {
    return this.#status;
  }

  /** The other files that could be followed, by their paths from the folder. */
  get beside(): readonly string[] {
    const { beside, importing } = this.#counted;
    const there = beside.filter(({ leadsNowhere, problem }) => !leadsNowhere && !problem);
    return there.map(({ name }) => name).filter((name) => !importing.includes(name));
  }

  /** Looks at the file now, or right after the look that is under way. */
  look(): void {
    this.#wanted = true;
    if (this.#stopped) return;
    this.#glimpses.glimpse(this.#status.path);
    if (this.#looking) return;
    this.#timer?.cancel();
    this.#looking = this.#lookWhileWanted().finally(() => {
      this.#looking = undefined;
      if (this.#wanted) this.look();
    });
  }

  /** What the file waits for is over at a known time, and it is looked at then. */
  get isTimed(): boolean {
    return this.#isTimed;
  }

  /** Resolves when no look is under way or requested. */
  get isLooking(): boolean {
    return this.#looking !== undefined;
  }

  async settled(): Promise<void> {
    while (this.#looking) await this.#looking;
  }

  /** Resolves when what was asked for during the look that is under way is read. */
  async glimpsed(): Promise<void> {
    await this.#glimpses.settled();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
    // Saves into replaced files are nowhere else.
    await this.#takeLateSaves({ isLast: true }).catch((thrown) => this.#failed(thrown));
    await this.#lateSaves.close();
  }

  async #lookWhileWanted(): Promise<void> {
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      const look = await this.#lookOnce().catch((thrown) => this.#failed(thrown));
      const { status, againMs } = look;
      const afterMs = earlier(againMs === "later" ? this.#backOff(status) : againMs, look.seenInMs);
      this.#status = status;
      this.#tellWhetherAside(status);
      this.#isTimed = typeof againMs === "number";
      if (status.why?.code !== "being-written") this.#unfinished.forget();
      if (afterMs === undefined) continue;
      this.#timer?.cancel();
      this.#timer = this.#options.world.setTimer(afterMs, () => this.look());
    }
  }

  /** Logs that a file gets nothing for now, once for each time, whatever is saved meanwhile. */
  #tellWhetherAside({ state, why, path }: FollowStatus): void {
    const isAside = why?.code === "leave-aside";
    const told = { dir: this.link.dir, path };
    const isNew = isAside && !this.#isAside;
    if (isNew) this.#options.log.warn(told, "a file gets nothing until a conflict is settled");
    if (isAside || state === "followed") this.#isAside = isAside;
  }

  /** A file may be left alone for days, and nearly always an event tells when that ends. */
  #backOff({ why }: FollowStatus): number {
    const { why: known } = this.#status;
    const isNew = !why || !known || !isSameReason(why, known);
    this.#againMs = isNew ? AGAIN_MS_MIN : Math.min(2 * this.#againMs, AGAIN_MS_MAX);
    return this.#againMs;
  }

  #failed(thrown: unknown): FileLook {
    const reason = unforeseen(thrown);
    this.#options.log.error({ dir: this.link.dir, reason }, "a followed file was not taken");
    const { path } = this.#status;
    const why: Reason = { code: "look-failed", said: reason };
    return { status: statusOf(path, "failing", why), againMs: FAILED_AGAIN_MS };
  }

  async #lookOnce(): Promise<FileLook> {
    const { git, store, world } = this.#options;
    const [{ dir }, folder] = [this.link, this.#folder];
    const lookedAt = world.now();
    await this.#takeLateSaves();
    // What is seen from here on comes after what this look reads.
    const seen = await this.#glimpses.seen();
    const stored = await readFollowed(store.reader, dir);
    // After a crash a file may show what the daemon had written.
    for (const state of [stored, stored?.next]) if (state) this.#glimpses.markKnown(state.hash);
    const overtaken = this.#glimpses.dropKnown(seen);
    const counted = await this.#counted.find(stored);
    const read = await this.#counted.read(counted);
    const ignored = await this.#counted.whyIgnored(counted);
    const place = await this.#place.check();
    if (place.kind !== "here") {
      this.#grace.end();
      this.#options.onGone?.(this.link);
      const state = place.kind === "unknown" ? "failing" : "left-alone";
      return { status: statusOf(counted.path, state, place.why), againMs: "later" };
    }
    if (ignored) {
      this.#glimpses.forget(seen);
      return { status: statusOf(counted.path, "left-alone", ignored) };
    }
    if (stored?.next && (await finishBegunWrite(begunIn(folder, stored, stored.next)))) {
      return this.#lookAgain(stored.path);
    }
    const left = stored && (await this.#leaveLink(stored, overtaken));
    if (left) return left;
    if (read.kind === "problem") return await this.#takeProblem(read);
    const { path } = read;
    const known = stored?.path === path ? stored : undefined;
    const inGit = await fileStanding(git, join(folder, path));
    const { standing, marked, isNoted } = await lookAtMarks(git, { read, standing: inGit, known });
    if (!isNoted) await store.write(({ db }) => noteMarked(db, dir, marked));
    if (!(await this.#isWhole(read, known))) return this.#lookAgain(path);
    if (known?.next) {
      const takeLate = (file: FileContent) => this.#takeLate(known, file);
      await clearBegunWrite({ ...begunIn(folder, known, known.next), takeLate });
    }
    const save = await this.#overtaken.findSave(read, standing, known);
    const againMs = save ? await this.#unfinished.left(known, save) : 0;
    if (save === undefined) this.#unfinished.over();
    const sight =
      againMs > 0
        ? { status: beingWritten(path), againMs }
        : await this.#sightOf(read, standing, { known, marked });
    if ("status" in sight) {
      // Of a tracked file nobody has looked yet what git did to it.
      const isMoved =
        standing.kind === "tracked" || isElsewhere(known, await checkedOutAt(standing));
      await this.#overtaken.keep(overtaken, { file: read, isMoved, known }, save ?? undefined);
      return sight;
    }
    if (known && (await this.#counted.goOn(sight, known, counted))) return this.#lookAgain(path);
    const isMoved = standing.kind !== "unknown" && isElsewhere(known, sight.checkedOut);
    const by = { file: sight.file, isMoved, known };
    const why = await this.#counted.whyImports(sight, known);
    if (why) {
      await this.#overtaken.keepLeft(overtaken, by);
      return { status: statusOf(path, "left-alone", why) };
    }
    const saves = await this.#overtaken.among(overtaken, by);
    return await this.#take(sight, known, { overtaken: saves, lookedAt });
  }

  /** What was glimpsed of the former file is not this one's. */
  async #leaveLink(
    known: FollowedState,
    seen: readonly FileContent[],
  ): Promise<FileLook | undefined> {
    const left = await this.#counted.leaveLink(known, (file) => this.#takeLate(known, file));
    if (!left) return undefined;
    if (!left.isFormerThere) await this.#overtaken.keepGone(seen, known);
    this.#status = beingWritten(left.state.path);
    this.#glimpses.forget(await this.#glimpses.seen());
    return this.#lookAgain(left.state.path);
  }

  /** Programs write a file in steps, so a new text is taken only after two equal reads. */
  async #isWhole(read: Readable, known: FollowedState | undefined): Promise<boolean> {
    if (read.kind === "absent" || read.hash === known?.hash) return true;
    const again = await readFileAt(this.#folder, read.path);
    return again.kind === "text" && again.hash === read.hash;
  }

  #lookAgain(path: string): FileLook {
    this.#wanted = true;
    return { status: beingWritten(path) };
  }

  /** Asks git about a file that was read, and for a tracked file what git brought. */
  async #sightOf(
    read: Readable,
    standing: FileStanding,
    {
      known,
      marked,
    }: {
      readonly known: FollowedState | undefined;
      readonly marked: MarkedText | undefined;
    },
  ): Promise<Sight | FileLook> {
    const around = this.#counted.around(read.path);
    if (standing.kind !== "tracked" || !standing.onDefaultBranch) {
      const checkedOut = await checkedOutAt(standing);
      const tree = await this.#treeOf(read, standing);
      return { file: read, standing, checkedOut, tree, ...around, ...UNTOLD };
    }
    const { path } = read;
    const seen = await this.#tracked.take(standing, known, { path, marked });
    switch (seen.kind) {
      case "sight":
        return { ...seen.sight, tree: await this.#treeOf(seen.sight.file, standing), ...around };
      case "problem":
        return await this.#takeProblem(seen);
      case "moved":
        // Nothing is taken yet, and a repository may move all the time.
        return { status: beingWritten(path), againMs: "later" };
      case "not-now": {
        const isQuiet = seen.why.code === "not-now";
        const againMs = isQuiet ? quietLeft(seen.sighting, this.#options.world) : "later";
        return { status: statusOfNotNow(path, seen), againMs };
      }
    }
  }

  async #treeOf(file: Readable, standing: FileStanding): Promise<TreeReadiness> {
    return file.kind === "absent" ? await this.#tree.look(standing) : TREE_MADE;
  }

  async #takeProblem({ path, why, overLimit, unread }: FileProblem): Promise<FileLook> {
    if (unread) return { status: statusOf(path, "failing", why), againMs: "later" };
    const again = isEndUntold(why) ? { againMs: "later" as const } : {};
    if (!overLimit) return { status: statusOf(path, "left-alone", why), ...again };
    await this.#options.store.write((context) =>
      holdUnread(context, this.#options.account, { link: this.link, reason: why }),
    );
    return { status: statusOf(path, "held", why) };
  }

  /** Does what was decided, and writes the file where the document has more. */
  async #take(
    sight: Sight,
    known: FollowedState | undefined,
    { overtaken, lookedAt }: { readonly overtaken: Overtaken; readonly lookedAt: number },
  ): Promise<FileLook> {
    const { account, service, store } = this.#options;
    const { goneMs } = this.#grace;
    const graceMs = this.#grace.left(isWithoutText(known, sight.file));
    const { isFromGit } = this.#place;
    const options = {
      account,
      service,
      link: this.link,
      clock: this.#arrivals,
      graceMs,
      goneMs,
      isFromGit,
      name: this.#counted.name,
      overtaken,
      lookedAt: this.#lateSaves.isWaiting ? undefined : lookedAt,
      isUnsure: this.#isUnsure,
      vanished: graceMs > 0 ? undefined : await this.#overtaken.vanished(sight.file),
    };
    const taken = await store.write((context) => takeSight(context, sight, options));
    this.#isUnsure = false;
    // Whatever was decided, they are in the history of a file that is known.
    if (known || taken.kind !== "unfollowed") this.#glimpses.forget(overtaken.saves);
    if (taken.kind !== "unfollowed" && sight.file.kind === "text") {
      this.#glimpses.markKnown(sight.file.hash);
    }
    const look = await this.#lookAfter(taken, { sight, known, graceMs });
    return { ...look, seenInMs: taken.seenInMs };
  }

  async #lookAfter(
    taken: TakenSight,
    {
      sight,
      known,
      graceMs,
    }: {
      readonly sight: Sight;
      readonly known: FollowedState | undefined;
      readonly graceMs: number;
    },
  ): Promise<FileLook> {
    const { path } = sight.file;
    switch (taken.kind) {
      case "unfollowed":
        // The file is missing for good now. Another file may continue it.
        this.#wanted ||= taken.why === "gone" && known?.isGone === false;
        return unfollowedLook(taken.why, sight, graceMs);
      case "deleted": {
        const { machine } = taken.deletion;
        const why: Reason = { code: "deleted", ...(machine !== undefined && { machine }) };
        return { status: statusOf(path, "left-alone", why) };
      }
      case "held":
        return { status: { path, state: "held", why: taken.why, note: taken.note } };
      case "write":
        return await this.#writeBack(sight, taken);
      case "done":
        return {
          status: followedStatus(sight, { mayWrite: this.link.write, notKept: this.#notKept }),
        };
    }
  }

  #takeLateSaves(options?: { readonly isLast: boolean }): Promise<void> {
    const keep = (file: FileContent) => this.#overtaken.keepLate(file);
    return this.#lateSaves.take((base, file) => this.#takeLate(base, file), { ...options, keep });
  }

  async #takeLate(base: FileState, file: FileContent): Promise<FileState> {
    const { account, store } = this.#options;
    const options = { account, link: this.link, clock: this.#arrivals };
    return await store.write((context) => takeLateSave(context, base, { ...options, file }));
  }

  /** The intended state is stored before, so after a crash it is clear what was being written. */
  async #writeBack({ file: { path }, tree }: Sight, write: ToWrite): Promise<FileLook> {
    const { from, to, content } = write;
    const { account, store, world } = this.#options;
    const { dir } = this.link;
    if (this.#lateSaves.isFull) {
      await store.write(({ db }) => writeFollowed(db, dir, from));
      return { status: beingWritten(path), againMs: FULL_AGAIN_MS };
    }
    // The folder may be another one by now. A clone begins with a folder that has no git files yet.
    const isDue = async () =>
      (tree.kind !== "made" || (await tree.isStill())) &&
      (await this.#place.check()).kind === "here";
    const file = join(this.#folder, path);
    const options = { expectedHash: from.hash, world, isDue, within: this.#folder };
    const outcome = await replaceFile(file, content, options);
    if (outcome.kind !== "written") {
      await store.write(({ db }) => writeFollowed(db, dir, from));
    } else {
      this.#notKept = outcome.notKept;
      this.#isUnsure = true;
      this.#glimpses.markKnown(to.hash);
      const written = { file, bytes: utf8Bytes(content) };
      this.#options.onActivity?.({ event: "wrote", project: this.link.name, ...written });
      if (outcome.replaced) await this.#lateSaves.add(outcome.replaced, from);
      await store.write(async (context) => {
        await noteWritten(context, from, {
          to,
          options: { account, link: this.link, clock: this.#arrivals },
        });
        await writeFollowed(context.db, dir, { ...from, ...to });
      });
      this.#isUnsure = false;
    }
    this.#wanted = true;
    return { status: statusOf(path, "followed", undefined) };
  }
}

const FAILED_AGAIN_MS = 5000;
const FULL_AGAIN_MS = 1000;
const AGAIN_MS_MIN = 1000;
const AGAIN_MS_MAX = 60_000;

type FileProblem = Extract<FileRead, { kind: "problem" }>;

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.min(one, other ?? one);
}
