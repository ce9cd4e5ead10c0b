import { projectDocument } from "../../shared/replica/document/address.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import { historyTime } from "../../shared/replica/history/history-clock.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { ABSENT_HASH, hashOf } from "../disk/read-file.ts";
import { checkedOutEndings } from "../git/git-endings.ts";
import { tellCommits } from "../git/known-commits.ts";
import { heldAdvice } from "../held/advice.ts";
import { dropHeld } from "../home/held-store.ts";
import { readPosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { findNotShown, noteSeen } from "./arrivals/seen-arrivals.ts";
import { type FileState, fileText } from "./lines/file-state.ts";
import { alsoNameOf } from "./names/also-file.ts";
import { HoldingConflicts } from "./saves/aside-conflicts.ts";
import { mayBeWritten } from "./saves/begun-write.ts";
import { stillAside } from "./saves/brought-back.ts";
import { noteMoved, noteWritten } from "./saves/note-arrival.ts";
import { type TakenSave, unconflicted } from "./saves/take-edit.ts";
import { leaveGone } from "./saves/take-late-save.ts";
import {
  isTakenWhole,
  type Taken,
  type TakenSight,
  type TakeOptions,
} from "./saves/taken-sight.ts";
import { decideFollowing, type FollowDecision, integrates } from "./state/decide-following.ts";
import { type FileContent, takeSave } from "./state/file-edit.ts";
import { factsOf, type Sight } from "./state/follow-facts.ts";
import type { Unfollowed } from "./state/follow-reasons.ts";
import {
  type FollowedState,
  forgetFollowed,
  readFollowed,
  writeFollowed,
} from "./state/follow-store.ts";
import { baseOfRefused, findRefusedText, holdSave } from "./state/held-save.ts";
import { mayWriteOthers } from "./state/may-write-others.ts";
import { tellProjectFile } from "./state/project-file.ts";
import {
  endWaiting,
  isLastWaiting,
  keepOvertaken,
  keepSave,
  type Overtaken,
} from "./state/save-history.ts";
import { isUnchanged } from "./state/unchanged-file.ts";
import { takeDecided } from "./take-decided.ts";
import type { CameByGit } from "./tracked/came-by-git.ts";
import { noteVisited, noteVisitedPut } from "./tracked/note-visited.ts";
import { sharedOf, splitSight, withCommittedEndings } from "./tracked/passed-sight.ts";
import { notePutByGit } from "./tracked/put-by-git.ts";

type Context = WriteContext<DaemonTables>;

/**
 * Does what was decided about a followed file, in one transaction: takes a save into the document,
 * and returns what has to be written to the file.
 */
export async function takeSight(
  context: Context,
  sight: Sight,
  options: TakeOptions,
): Promise<TakenSight> {
  const split = splitSight(sight);
  const visited = await noteVisited(context, sight, options);
  const came: CameByGit[] = visited ? [visited] : [];
  let isPassed = split !== undefined;
  for (const passed of split?.passed ?? []) {
    isPassed &&= await new Taking(context, passed, { ...options, came }).takePassed();
  }
  const found = split && isPassed ? split.found : sight;
  const taken = await new Taking(context, found, { ...options, came }).take();
  await noteVisitedPut(context, sight, { ...options, former: visited });
  return taken;
}

/** `came`: what was noted of the texts before this one. */
type TakingOptions = TakeOptions & { readonly came: CameByGit[] };

const NONE: Overtaken = { saves: [], begun: [] };

/** What is known of a file from before. */
interface Known {
  readonly known: FollowedState | undefined;
  readonly holding: HoldingConflicts;
}

class Taking {
  readonly #context: Context;
  readonly #sight: Sight;
  readonly #options: TakingOptions;
  readonly #file: FileContent;
  /** The saved text, byte for byte. */
  readonly #saved: string;

  constructor(context: Context, sight: Sight, options: TakingOptions) {
    this.#context = context;
    this.#sight = withCommittedEndings(sight);
    this.#options = options;
    const { file } = this.#sight;
    const absent = { content: "", hash: ABSENT_HASH, savedAt: context.now };
    this.#file = file.kind === "text" ? file : absent;
    this.#saved = sight.file.kind === "text" ? sight.file.content : "";
  }

  async take(): Promise<TakenSight> {
    const { db } = this.#context;
    const { account, link } = this.#options;
    const open = await this.#context.open(projectDocument(account, link.projectId));
    const deletion = deletionOf(open.document);
    if (deletion) {
      // If the project is begun again, file and document meet as if for the first time.
      if (await readFollowed(db, link.dir)) await forgetFollowed(db, link.dir);
      return { kind: "deleted", deletion };
    }
    const known = await this.#known();
    if (known) await this.#keepOvertaken(open, known);
    const isDone =
      known && (await isUnchanged(db, open, { ...this.#sight, known, file: this.#file }));
    const decision = isDone ? "follow" : decideFollowing(await this.#facts(open, known));
    const taken: Taken = isDone ? { kind: "done" } : await this.#do(decision, open, known);
    if (known) await this.#endWaiting(open, decision);
    const isSame = known?.hash === this.#file.hash;
    if (!isSame && !isTakenWhole(taken)) return taken;
    return { ...taken, seenInMs: await this.#noteSeen(open, isSame) };
  }

  /** What was there before the text that is found. False: it is not taken by itself. */
  async takePassed(): Promise<boolean> {
    const { db } = this.#context;
    const { account, link } = this.#options;
    const open = await this.#context.open(projectDocument(account, link.projectId));
    const known = await this.#known();
    if (!known || deletionOf(open.document)) return false;
    const decision = decideFollowing(await this.#facts(open, known));
    if (decision !== "edit" && decision !== "version") return false;
    const taken = await this.#follow(open, known, decision);
    if (taken.kind === "held") return await this.#takeShared(open, known);
    const state = await readFollowed(db, link.dir);
    if (!state) return false;
    await this.#write({ ...state, next: undefined });
    return true;
  }

  /** Of a passed text that is held what somebody has shared already has come into the file, too. */
  async #takeShared(open: OpenDocument, known: FollowedState): Promise<boolean> {
    const shared = sharedOf(this.#sight, [fileText(known), open.document.content()]);
    return !!shared && (await new Taking(this.#context, shared, this.#options).takePassed());
  }

  async #noteSeen(open: OpenDocument, isSame: boolean): Promise<number | undefined> {
    const { db } = this.#context;
    const { clock, link, lookedAt, overtaken = NONE } = this.#options;
    if (lookedAt === undefined) return undefined;
    const isAsKnown = isSame && overtaken.saves.length === 0;
    const notShown = async () => findNotShown(open, await readFollowed(db, link.dir));
    return await noteSeen(db, link.dir, { clock, lookedAt, isAsKnown, notShown });
  }

  async #do(
    decision: FollowDecision,
    open: OpenDocument,
    known: FollowedState | undefined,
  ): Promise<TakenSight> {
    switch (decision) {
      case "follow":
      case "meet":
      case "renew":
      case "edit":
      case "version":
      case "create":
        return await this.#follow(open, known, decision);
      case "absent":
        if (await this.#isUnsent(open, known)) return { kind: "unfollowed", why: "unsent" };
        return await this.#follow(open, known, decision);
      case "missing": {
        const isUnsent = await this.#isUnsent(open, known);
        return { kind: "unfollowed", why: isUnsent ? "unsent" : decision };
      }
      case "gone":
      case "emptied-by-git":
        if (known && !known.isGone) await leaveGone(this.#context, known, this.#options);
        return { kind: "unfollowed", why: this.#goneWhy() };
      case "wait-service":
        await this.#keepWaiting(open);
        return { kind: "unfollowed", why: decision };
      default:
        return { kind: "unfollowed", why: decision };
    }
  }

  /**
   * Whether the file disappeared before the service answered, so that only this machine has its
   * text.
   */
  async #isUnsent(open: OpenDocument, known: FollowedState | undefined): Promise<boolean> {
    if (known || open.document.content().trim() !== "") return false;
    return await isLastWaiting(this.#context.db, open.id, this.#options.link.dir);
  }

  #goneWhy(): Unfollowed {
    return this.#sight.file.kind === "absent" ? "gone" : "emptied-by-git";
  }

  /** After a crash during a write, the file shows whether the write was completed. */
  async #known(): Promise<FollowedState | undefined> {
    const known = await readFollowed(this.#context.db, this.#options.link.dir);
    if (known?.path !== this.#sight.file.path) return undefined;
    const { next } = known;
    const { isUnsure = false } = this.#options;
    const isWritten = next && mayBeWritten(known, next, { file: this.#file, isUnsure });
    if (!isWritten) return this.#asCommitted(known);
    const { overSavedAt: _, ...to } = next;
    const state = { ...known, ...to, next: undefined };
    await noteWritten(this.#context, known, { to, options: this.#options });
    // The save may be held, and be taken much later.
    await this.#write(state);
    return this.#asCommitted(state);
  }

  /** git's CRLF belong to the file alone. The document never has them. */
  #asCommitted<State extends FileState>(state: State): State {
    if (!this.#sight.hasGitEndings) return state;
    return { ...state, form: { ...state.form, eol: "lf" } };
  }

  #asCheckedOut<State extends FileState>(state: State): State {
    if (!this.#sight.hasGitEndings) return state;
    return { ...state, form: { ...state.form, eol: "crlf" } };
  }

  async #facts(open: OpenDocument, known: FollowedState | undefined) {
    const { service, graceMs, isFromGit, link } = this.#options;
    const { remote } = await readPosition(this.#context.db, service, open.id);
    const hasAnswered = known !== undefined || remote !== undefined;
    const { document } = open;
    const consent = link.write;
    const isFurther = alsoNameOf(link) !== undefined;
    const circumstances = { known, graceMs, consent, isFromGit, hasAnswered, isFurther, document };
    return factsOf(this.#sight, circumstances);
  }

  async #keepWaiting(open: OpenDocument): Promise<void> {
    if (this.#sight.file.kind === "absent") return;
    await this.#keep(open, "waiting", []);
  }

  async #keep(
    open: OpenDocument,
    outcome: Parameters<typeof keepSave>[2]["outcome"],
    conflicts: readonly string[],
  ): Promise<void> {
    const { savedAt } = this.#file;
    const { dir } = this.#options.link;
    const content = this.#saved;
    await keepSave(this.#context, open, { dir, content, savedAt, outcome, conflicts });
  }

  async #keepOvertaken(open: OpenDocument, { hash }: FollowedState): Promise<void> {
    const { overtaken = NONE, link } = this.#options;
    const isOther = (each: FileContent) => each.hash !== hash && each.hash !== this.#file.hash;
    const saves = overtaken.saves.filter(isOther);
    await keepOvertaken(this.#context, open, { dir: link.dir, ...overtaken, saves });
  }

  /** What waited is saved over, or gone with its file: not just missing while git works. */
  async #endWaiting(open: OpenDocument, decision: FollowDecision): Promise<void> {
    const { link, graceMs } = this.#options;
    const isText = this.#sight.file.kind === "text";
    if (!isText && (graceMs > 0 || decision.startsWith("leave-"))) return;
    const but = isText ? this.#saved : undefined;
    await endWaiting(this.#context.db, open.id, { dir: link.dir, but });
  }

  async #write(state: FollowedState): Promise<void> {
    await writeFollowed(this.#context.db, this.#options.link.dir, state);
  }

  async #follow(
    open: OpenDocument,
    known: FollowedState | undefined,
    decision: FollowDecision,
  ): Promise<TakenSight> {
    const { db } = this.#context;
    const held = await holdSave(this.#context, open, {
      link: this.#options.link,
      state: known,
      file: this.#file,
    });
    if (held) {
      await this.#keep(open, "held", []);
      return { kind: "held", ...held };
    }
    const refused = await findRefusedText(db, open);
    const { now } = this.#context;
    const isFirst = open.document.content().trim() === "";
    const time = await historyTime(narrowTables(db), now);
    const holding = new HoldingConflicts(open, known?.holding, { now, time });
    const shown = known?.hash === this.#file.hash ? undefined : baseOfRefused(open, known, refused);
    if (shown && refused) await dropHeld(db, refused);
    const taken = shown
      ? unconflicted(await takeSave(this.#context, open, { base: shown, file: this.#file }))
      : await this.#takeDecided(decision, open, { known, holding });
    holding.add(taken.conflicts);
    await noteMoved(db, taken.moved, this.#options);
    if (known) await this.#notePut(open, known, taken.state);
    const { past } = this.#sight;
    if (past && integrates(decision, { relation: past.relation, isKnown: known !== undefined })) {
      tellCommits(open.document, past.changes, this.#context.now);
    }
    const { name, link } = this.#options;
    const found = { name, link, sight: this.#sight, decision, isFirst };
    tellProjectFile(open.document, found, this.#context.now);
    await this.#context.flush(open);
    if (known?.hash !== this.#file.hash && this.#sight.file.kind === "text") {
      const outcome = decision === "version" ? "known" : "taken";
      await this.#keep(open, taken.conflicts.length > 0 ? "conflict" : outcome, taken.conflicts);
    }
    const isFree = refused === undefined || shown !== undefined;
    const next = await this.#settle(open, { known, taken, isFree, holding });
    if (next.kind === "done" && !isFree) {
      return { kind: "held", why: refused.reason, note: heldAdvice(refused) };
    }
    return next;
  }

  async #takeDecided(
    decision: FollowDecision,
    open: OpenDocument,
    { known, holding }: Known,
  ): Promise<TakenSave> {
    const [file, sight, options] = [this.#file, this.#sight, this.#options];
    return await takeDecided(this.#context, open, {
      decision,
      known,
      holding,
      file,
      sight,
      options,
    });
  }

  async #notePut(open: OpenDocument, from: FileState, to: FileState): Promise<void> {
    const { committed, madeBy, putAt, fetched, isSavedOver = false } = this.#sight;
    const isOthers = madeBy === "others" || madeBy === "anybody";
    const isBrought = isOthers && committed !== undefined;
    const ofGit = isBrought ? { before: undefined, after: committed } : fetched;
    if (!ofGit) return;
    const [file, options] = [this.#file, this.#options];
    const put = { ofGit, file, from, to, putAt, isSavedOver, options };
    const arrival = await notePutByGit(this.#context, open, put);
    if (arrival !== undefined) options.came.push({ arrival, at: putAt });
  }

  /** Stores the state that was found, and the one that a write is to leave. */
  async #settle(
    open: OpenDocument,
    {
      known,
      taken: { state, aside = [] },
      isFree,
      holding,
    }: Known & { taken: TakenSave; isFree: boolean },
  ): Promise<TakenSight> {
    const { document, head: position } = open;
    const { checkedOut, file, beside, linkedAs } = this.#sight;
    const text = document.content();
    const isDue =
      isFree &&
      text !== this.#file.content &&
      (await mayWriteOthers(this.#context.db, this.#sight, {
        link: this.#options.link,
        content: text,
      }));
    const isDisputed = isDue && holding.isAny;
    const content = this.#sight.hasGitEndings ? checkedOutEndings(text) : text;
    const captured = { base: document.captureText(), form: document.textForm() };
    const overSavedAt = file.kind === "text" ? file.savedAt : undefined;
    const to = { hash: hashOf(content), ...captured, overSavedAt };
    const next = isDue && !isDisputed ? this.#asCheckedOut(to) : undefined;
    const here = this.#asCheckedOut(state);
    const kept = known?.hash === this.#file.hash ? known.kept : this.#sight.kept;
    const { commit } = checkedOut;
    const setAside =
      file.kind === "text"
        ? stillAside(known, this.#file, { told: aside, commit })
        : known?.setAside;
    const at = { path: file.path, linkedAs, target: known?.target, checkedOut };
    const seen = { ...at, isGone: false, position, beside, kept, setAside };
    const found = { ...here, ...seen, holding: holding.all };
    const from = { ...found, next: undefined };
    await this.#write({ ...found, next });
    if (next) return { kind: "write", from, to: next, content };
    return isDisputed ? { kind: "unfollowed", why: "leave-aside" } : { kind: "done" };
  }
}
