import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/address.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store.ts";
import type { WriteContext } from "../../shared/replica/write-context.ts";
import { splitForm } from "../../shared/replica/text-form.ts";
import type { Timer, World } from "../../shared/world.ts";
import { heldAdvice } from "../held/advice.ts";
import { dropHeld } from "../held/held-store.ts";
import type { Link } from "../links.ts";
import { readPosition } from "../sync/positions.ts";
import type { DaemonTables } from "../tables.ts";
import { clearBegunWrite } from "./begun-write.ts";
import { type FileContent, takeFirst, takeSave } from "./file-edit.ts";
import { type FollowPlan, planFollowing } from "./follow-plan.ts";
import {
  addVersion,
  type FileState,
  type FollowedState,
  forgetVersions,
  readFollowed,
  writeFollowed,
} from "./follow-store.ts";
import { type FileStanding, fileStanding, readHeadText } from "./git-state.ts";
import { baseOfRefused, findRefusedText, holdLateSave, holdSave, holdUnread } from "./held-save.ts";
import { Grace } from "./grace.ts";
import { isKnownVersion } from "./known-versions.ts";
import { LateSaves } from "./late-saves.ts";
import { LinkedPlace } from "./linked-place.ts";
import { ABSENT_HASH, type FileRead, hashOf, readFollowedFile, textOf } from "./read-file.ts";
import { QUIET_MS, readTrackedText, type Sighting } from "./read-tracked-text.ts";
import type { Git } from "./run-git.ts";
import { SaveBase } from "./save-base.ts";
import { isUnchanged } from "./unchanged-file.ts";
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
  readonly #saveBase: SaveBase;
  readonly #lateSaves: LateSaves;
  readonly #place: LinkedPlace;
  readonly #grace: Grace;
  #status: FollowStatus = { path: "CLAUDE.md", state: "waiting", note: "not looked at yet" };
  #looking: Promise<void> | undefined;
  #wanted = false;
  #timer: Timer | undefined;
  #stopped = false;
  #sighting: Sighting | undefined;
  #againMs = 0;

  constructor(link: Link, options: FollowerOptions) {
    this.link = link;
    this.#options = options;
    this.#saveBase = new SaveBase(link.dir, options.world);
    this.#lateSaves = new LateSaves(options.world, () => this.look());
    this.#grace = new Grace(options.world);
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
    const { dir, write } = this.link;
    await this.#takeLateSaves();
    const found = await readFollowedFile(dir);
    const place = await this.#place.check(found);
    if (place.kind !== "here") {
      this.#grace.end();
      this.#options.onGone?.(this.link);
      const look = place.kind === "unknown" ? failing : leftAlone;
      return { ...look(found.path, place.note), againMs: "later" };
    }
    if (found.kind === "problem") return await this.#takeProblem(found);
    const known = await readFollowed(store.reader, dir);
    const read = missedAs(known, found);
    const { path } = read;
    const standing = await fileStanding(git, join(dir, path));
    if (!(await this.#isWhole(read, known))) return this.#lookAgain(path);
    if (known?.next) {
      const takeLate = this.#takeLate.bind(this);
      await clearBegunWrite({ dir, known, next: known.next, takeLate });
    }
    const exists = read.kind === "text";
    const hadText = known?.path === path && known.base.text.trim() !== "";
    const plan = planFollowing(standing, { exists, hadText, write });
    if (plan.kind === "leave") {
      const look = standing.kind === "unknown" ? failing : leftAlone;
      return { ...look(path, plan.note), ...(plan.again && { againMs: "later" as const }) };
    }
    if (standing.kind !== "tracked") return await this.#take(read, plan, undefined);
    const guarded = await this.#readGuarded(standing, path);
    if ("status" in guarded) return guarded;
    const committed = known?.path === path ? undefined : await this.#committedText(standing, path);
    return await this.#take(guarded, plan, committed);
  }

  /** Programs write a file in steps: what is new is taken only once it is read twice the same. */
  async #isWhole(read: Readable, known: FollowedState | undefined): Promise<boolean> {
    if (read.kind === "absent" || read.hash === known?.hash) return true;
    const again = await readFollowedFile(this.link.dir);
    return again.kind === "text" && again.path === read.path && again.hash === read.hash;
  }

  #lookAgain(path: string): Look {
    this.#wanted = true;
    return { status: { path, state: "waiting", note: "is being written" } };
  }

  /** What the checked-out commit holds of a tracked file. */
  async #committedText(standing: Tracked, path: string): Promise<string | undefined> {
    const head = await readHeadText(this.#options.git, standing.file, standing.commit);
    const text = head.kind === "text" ? textOf(path, head.bytes, 0) : undefined;
    return text?.kind === "text" ? text.content : undefined;
  }

  /** A tracked file's text, once it is sure to be the checked-out branch's. */
  async #readGuarded(standing: Tracked, path: string): Promise<Readable | Look> {
    const { git, world } = this.#options;
    const read = await readTrackedText(git, world, standing.file, this.#sighting);
    this.#sighting = read.sighting;
    if (read.kind === "not-now") {
      const againMs = read.reason === "not-quiet" ? QUIET_MS : "later";
      return { status: { path, state: "waiting", note: read.detail }, againMs };
    }
    if (read.head.branch !== standing.defaultBranch) return { status: this.#status, againMs: 0 };
    const text = read.bytes && textOf(path, read.bytes, world.now());
    if (text?.kind === "problem") return await this.#takeProblem(text);
    return text ?? { kind: "absent", path };
  }

  async #takeProblem({ path, message, overLimit, unread }: FileProblem): Promise<Look> {
    if (unread) return { ...failing(path, message), againMs: "later" };
    if (!overLimit) return leftAlone(path, message);
    await this.#options.store.write((context) =>
      holdUnread(context, this.#options.account, this.link, message),
    );
    return heldLook(path, message);
  }

  /** Takes what was read into the document, and writes the file where the document has more. */
  async #take(read: Readable, plan: Following, committed: string | undefined): Promise<Look> {
    const { path } = read;
    const savedAt = this.#options.world.now();
    const file = read.kind === "text" ? read : { path, content: "", hash: ABSENT_HASH, savedAt };
    const taken = await this.#options.store.write((context) =>
      this.#takeInto(context, file, plan, committed),
    );
    if (taken.kind === "look") return taken.look;
    if (taken.kind === "write") return await this.#writeBack(path, taken);
    const state = plan.kind === "both" ? "followed" : "upwards";
    return { status: { path, state, note: undefined } };
  }

  async #takeInto(
    context: WriteContext<DaemonTables>,
    file: FileContent & { path: string },
    plan: Following,
    committed: string | undefined,
  ): Promise<Taken> {
    const { account, service } = this.#options;
    const { dir, projectId } = this.link;
    const open = await context.open(projectDocument(account, projectId));
    const known = await readFollowed(context.db, dir);
    const state = known?.path === file.path ? settleNext(known, file.hash) : undefined;
    if (!state) {
      const { remote } = await readPosition(context.db, service, open.id);
      if (!remote) return this.#waiting(file.path, "waits for the service's first answer");
    }
    const grace = this.#grace.left(state ?? known, file);
    if (grace > 0) return this.#waiting(file.path, "is empty or gone; waits a moment", grace);
    if (state === known && (await isUnchanged(context.db, open, state, file))) {
      return { kind: "done" };
    }
    const why = await holdSave(context, open, this.link, state, file);
    if (why !== undefined) return { kind: "look", look: heldLook(file.path, why) };
    const refused = await findRefusedText(context.db, open);
    const shownBase = file.hash === state?.hash ? undefined : baseOfRefused(open, state, refused);
    if (shownBase && refused) await dropHeld(context.db, refused);
    const next = shownBase
      ? await takeSave(context, open, shownBase, file)
      : await this.#nextState(context, open, state, file, committed, plan);
    const content = open.document.content();
    const isFree = refused === undefined || shownBase !== undefined;
    const written: FileState | undefined =
      isFree && isToBeWritten(plan, file, content)
        ? {
            hash: hashOf(content),
            base: open.document.captureText(),
            form: splitForm(content).form,
          }
        : undefined;
    if (next !== state) {
      this.#saveBase.forget();
      await forgetVersions(context.db, dir);
    }
    if (written) {
      this.#saveBase.replaces(next);
      await addVersion(context.db, dir, next, context.now);
    }
    if (next !== known || written) {
      await writeFollowed(context.db, dir, { ...next, path: file.path, next: written });
    }
    if (written) return { kind: "write", from: next, to: written, content };
    if (!isFree) return { kind: "look", look: heldLook(file.path, heldAdvice(refused)) };
    return { kind: "done" };
  }

  async #nextState(
    context: WriteContext<DaemonTables>,
    open: OpenDocument,
    state: FileState | undefined,
    file: FileContent,
    committed: string | undefined,
    plan: Following,
  ): Promise<FileState> {
    if (!state) return await takeFirst(context, open, file, committed);
    if (state.hash === file.hash) return state;
    const { lines, form } = splitForm(file.content);
    if (file.content === open.document.content()) {
      return { hash: file.hash, base: open.document.captureText(), form };
    }
    if (plan.kind === "upwards" && (await isKnownVersion(context.db, open.id, file.content))) {
      return { hash: file.hash, base: open.document.alignText(lines), form };
    }
    const base = await this.#saveBase.find(context, state, file);
    return await takeSave(context, open, base, file);
  }

  #takeLateSaves(): Promise<void> {
    return this.#lateSaves.take((base, file) => this.#takeLate(base, file));
  }

  async #takeLate(base: FileState, file: FileContent): Promise<FileState> {
    const { account, store } = this.#options;
    return await store.write(async (context) => {
      const open = await context.open(projectDocument(account, this.link.projectId));
      if (await holdLateSave(context, open, base, file)) {
        return { ...base, hash: file.hash };
      }
      const seen = await this.#saveBase.findLate(context, base, file);
      return await takeSave(context, open, seen, file);
    });
  }

  #waiting(path: string, note: string, againMs?: number): Taken {
    const status: FollowStatus = { path, state: "waiting", note };
    return { kind: "look", look: { status, ...(againMs !== undefined && { againMs }) } };
  }

  /** The intended state is stored already, so a crash between here and the end is understood. */
  async #writeBack(path: string, { from, to, content }: ToWrite): Promise<Look> {
    const { store, world } = this.#options;
    const { dir } = this.link;
    const outcome = await replaceFile(join(dir, path), content, from.hash, world);
    const state = outcome.kind === "written" ? to : from;
    await store.write(({ db }) => writeFollowed(db, dir, { ...state, path, next: undefined }));
    if (outcome.kind === "written") {
      this.#saveBase.wrote();
      if (outcome.replaced) await this.#lateSaves.add(outcome.replaced, from);
    }
    this.#wanted = true;
    return { status: { path, state: "followed", note: undefined } };
  }
}

const FAILED_AGAIN_MS = 5000;
const AGAIN_MS_MIN = 1000;
const AGAIN_MS_MAX = 60_000;

type Taken = { readonly kind: "done" } | { readonly kind: "look"; readonly look: Look } | ToWrite;

interface ToWrite {
  readonly kind: "write";
  /** What the file holds, and what it is to hold. */
  readonly from: FileState;
  readonly to: FileState;
  readonly content: string;
}

type Tracked = Extract<FileStanding, { kind: "tracked" }>;
type FileProblem = Extract<FileRead, { kind: "problem" }>;
type Readable = Exclude<FileRead, { kind: "problem" }>;
type Following = Exclude<FollowPlan, { kind: "leave" }>;

/** Where no file is found, it is the one that was followed that is missing. */
function missedAs(known: FollowedState | undefined, read: Readable): Readable {
  return read.kind === "absent" && known ? { kind: "absent", path: known.path } : read;
}

/** An empty document never makes a file: it may have held nothing yet. */
function isToBeWritten(plan: Following, file: FileContent, content: string): boolean {
  if (plan.kind !== "both" || content === file.content) return false;
  return file.hash !== ABSENT_HASH || (plan.mayCreate && content !== "");
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

/** After a crash in the middle of a write, the file shows whether the write came through. */
function settleNext(known: FollowedState, hash: string): FollowedState {
  if (!known.next || known.next.hash !== hash) return known;
  return { path: known.path, ...known.next, next: undefined };
}
