import { projectDocument } from "../../shared/replica/address.ts";
import { diffLines, hasWord } from "../../shared/replica/line-diff.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import { listRevisions } from "../../shared/replica/revisions.ts";
import type { ReplicaTables } from "../../shared/replica/tables.ts";
import type { NewTextConflict } from "../../shared/replica/text-conflict-record.ts";
import { PLAIN_FORM, splitForm } from "../../shared/replica/text-form.ts";
import type { WriteContext } from "../../shared/replica/write-context.ts";
import type { Kysely } from "kysely";
import { heldAdvice } from "../held/advice.ts";
import { dropHeld } from "../held/held-store.ts";
import type { Link } from "../links.ts";
import { readPosition } from "../sync/positions.ts";
import type { DaemonTables } from "../tables.ts";
import type { ArrivalClock } from "./arrival-clock.ts";
import { addArrival, listArrivals } from "./arrival-store.ts";
import type { Arrival } from "./arrivals.ts";
import { decideFollowing, type FollowDecision } from "./decide-following.ts";
import { type FileContent, takeFirst, takeSave, takeVersion } from "./file-edit.ts";
import { factsOf, type Sight } from "./follow-facts.ts";
import type { Unfollowed } from "./follow-notes.ts";
import type { FileState } from "./file-state.ts";
import { type FollowedState, readFollowed, writeFollowed } from "./follow-store.ts";
import { baseOfRefused, findRefusedText, holdSave } from "./held-save.ts";
import { isKnownCommit, tellCommits } from "./known-commits.ts";
import { pulledBase } from "./pulled-base.ts";
import { ABSENT_HASH, hashOf } from "./read-file.ts";
import { noteShown, noteWritten } from "./note-arrival.ts";
import { keepSave } from "./save-history.ts";
import { record, type TakenSave, takeEdit } from "./take-edit.ts";
import { splitLines } from "./text-lines.ts";
import { isUnchanged } from "./unchanged-file.ts";

type Context = WriteContext<DaemonTables>;

/** What a sight is taken with. */
export interface TakeOptions {
  readonly account: string;
  readonly service: string;
  readonly link: Link;
  readonly clock: ArrivalClock;
  /** For how much longer a file without text does not count. */
  readonly graceMs: number;
}

/** What became of a sight. */
export type Taken =
  | { readonly kind: "done" }
  | { readonly kind: "unfollowed"; readonly why: Unfollowed }
  /** Kept on this machine; why, in words that follow the path. */
  | { readonly kind: "held"; readonly why: string }
  | ToWrite;

/** The file is to be written. The intended state is stored already. */
export interface ToWrite {
  readonly kind: "write";
  /** What the file holds, and what it is to hold. */
  readonly from: FollowedState;
  readonly to: FileState;
  readonly content: string;
}

/**
 * Does what is decided of a followed file, in one transaction: takes a save into the document, and
 * says what is to be written into the file.
 */
export async function takeSight(
  context: Context,
  sight: Sight,
  options: TakeOptions,
): Promise<Taken> {
  return await new Taking(context, sight, options).take();
}

const ABSENT: FileState = { hash: ABSENT_HASH, base: { text: "", spans: [] }, form: PLAIN_FORM };

function unconflicted(state: FileState): TakenSave {
  return { state, conflicts: [], moved: [] };
}

class Taking {
  readonly #context: Context;
  readonly #sight: Sight;
  readonly #options: TakeOptions;
  readonly #file: FileContent;

  constructor(context: Context, sight: Sight, options: TakeOptions) {
    this.#context = context;
    this.#sight = sight;
    this.#options = options;
    const { file } = sight;
    const absent = { content: "", hash: ABSENT_HASH, savedAt: context.now };
    this.#file = file.kind === "text" ? file : absent;
  }

  async take(): Promise<Taken> {
    const { db } = this.#context;
    const { account, link } = this.#options;
    const open = await this.#context.open(projectDocument(account, link.projectId));
    const known = await this.#known();
    if (known && (await isUnchanged(db, open, known, this.#file, this.#sight))) {
      return { kind: "done" };
    }
    const decision = decideFollowing(await this.#facts(open, known));
    switch (decision) {
      case "follow":
      case "meet":
      case "renew":
      case "edit":
      case "version":
      case "create":
      case "absent":
        return await this.#follow(open, known, decision);
      case "gone":
      case "emptied-by-git":
        if (known && !known.isGone) await this.#write({ ...known, isGone: true });
        return { kind: "unfollowed", why: this.#goneWhy() };
      case "wait-service":
        await this.#keepWaiting(open);
        return { kind: "unfollowed", why: decision };
      default:
        return { kind: "unfollowed", why: decision };
    }
  }

  #goneWhy(): Unfollowed {
    return this.#sight.file.kind === "absent" ? "gone" : "emptied-by-git";
  }

  /** After a crash in the middle of a write, the file shows whether the write came through. */
  async #known(): Promise<FollowedState | undefined> {
    const known = await readFollowed(this.#context.db, this.#options.link.dir);
    if (known?.path !== this.#sight.file.path) return undefined;
    if (known.next?.hash !== this.#file.hash) return known;
    await noteWritten(this.#context, known, known.next, this.#options);
    return { ...known, ...known.next, next: undefined };
  }

  async #facts(open: OpenDocument, known: FollowedState | undefined) {
    const { service, graceMs, link } = this.#options;
    const { remote } = await readPosition(this.#context.db, service, open.id);
    const hasAnswered = known !== undefined || remote !== undefined;
    const { document } = open;
    return factsOf(this.#sight, { known, graceMs, consent: link.write, hasAnswered, document });
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
    const { content, savedAt } = this.#file;
    const { dir } = this.#options.link;
    await keepSave(this.#context, open, { dir, content, savedAt, outcome, conflicts });
  }

  async #write(state: FollowedState): Promise<void> {
    await writeFollowed(this.#context.db, this.#options.link.dir, state);
  }

  async #follow(
    open: OpenDocument,
    known: FollowedState | undefined,
    decision: FollowDecision,
  ): Promise<Taken> {
    const { db } = this.#context;
    const why = await holdSave(this.#context, open, this.#options.link, known, this.#file);
    if (why !== undefined) {
      await this.#keep(open, "held", []);
      return { kind: "held", why };
    }
    const arrivals = await listArrivals(db, this.#options.link.dir);
    this.#options.clock.keep(arrivals);
    const refused = await findRefusedText(db, open);
    const shown = known?.hash === this.#file.hash ? undefined : baseOfRefused(open, known, refused);
    if (shown && refused) await dropHeld(db, refused);
    const taken = shown
      ? unconflicted(await takeSave(this.#context, open, shown, this.#file))
      : await this.#takeAs(decision, open, known, arrivals);
    await this.#noteMoved(taken, arrivals);
    if (this.#sight.past && this.#integrates(decision)) {
      tellCommits(open.document, this.#sight.past.changes, this.#context.now);
    }
    await this.#context.flush(open);
    if (known?.hash !== this.#file.hash && this.#sight.file.kind === "text") {
      const outcome = decision === "version" ? "known" : "taken";
      await this.#keep(open, taken.conflicts.length > 0 ? "conflict" : outcome, taken.conflicts);
    }
    const isFree = refused === undefined || shown !== undefined;
    const next = await this.#settle(open, taken.state, isFree);
    if (next.kind === "done" && !isFree) return { kind: "held", why: heldAdvice(refused) };
    return next;
  }

  async #takeAs(
    decision: FollowDecision,
    open: OpenDocument,
    known: FollowedState | undefined,
    arrivals: readonly Arrival[],
  ): Promise<TakenSave> {
    const { clock } = this.#options;
    switch (decision) {
      case "edit": {
        const unseen = clock.unseenAt(arrivals, this.#file.savedAt);
        const base = this.#baseOfPull(open, known ?? ABSENT);
        const isPulled = this.#sight.past?.relation === "onward";
        return await takeEdit(this.#context, open, base, this.#file, { unseen, isPulled });
      }
      case "version":
        return await this.#takeVersion(open);
      case "meet":
        return unconflicted(takeFirst(this.#context, open, this.#file));
      case "renew":
        return await this.#renew(open, known ?? ABSENT);
      case "follow":
        return unconflicted(await this.#followed(open, known ?? ABSENT));
      default:
        return unconflicted(ABSENT);
    }
  }

  /** Bytes that the document has, too, may be other characters of it by now. */
  async #followed(open: OpenDocument, known: FileState): Promise<FileState> {
    const { document } = open;
    if (document.content() !== this.#file.content) return known;
    const captured = { ...known, base: document.captureText() };
    await noteShown(this.#context, open, known, captured, this.#options);
    return captured;
  }

  async #takeVersion(open: OpenDocument): Promise<TakenSave> {
    const { committed, past } = this.#sight;
    if (committed === undefined) return unconflicted(takeFirst(this.#context, open, this.#file));
    const found =
      past?.relation === "elsewhere" && !this.#isTold(open)
        ? await this.#missingOf(open, committed)
        : [];
    const state = await takeVersion(this.#context, open, this.#file, committed);
    return { state, conflicts: await record(this.#context, open, found), moved: [] };
  }

  #isTold({ document }: OpenDocument): boolean {
    const [last] = this.#sight.past?.changes ?? [];
    return isKnownCommit(document, last);
  }

  /** What git brought with commits that other machines have read was made from those, too. */
  #baseOfPull({ document }: OpenDocument, known: FileState): FileState {
    const told = this.#sight.past?.told ?? [];
    if (told.length === 0) return known;
    const versions = told.map((text) => document.alignText(splitForm(String(text)).lines));
    const { lines } = splitForm(this.#file.content);
    return { ...known, base: pulledBase([...versions, known.base], lines) };
  }

  /** The lines that a document has or had, as far as this machine knows. */
  async #linesEverIn(open: OpenDocument): Promise<ReadonlySet<string>> {
    const replica = this.#context.db as unknown as Kysely<ReplicaTables>;
    const former = await listRevisions(replica, open.id, "text", "");
    const texts = [open.document.content(), ...former.map(({ value }) => value)];
    return new Set(texts.flatMap((text) => splitLines(splitForm(text).lines)));
  }

  /** Lines that git brought, and that the document has never had as far as this machine knows. */
  async #missingOf(open: OpenDocument, committed: string): Promise<NewTextConflict[]> {
    const known = await this.#linesEverIn(open);
    const lines = splitLines(splitForm(committed).lines);
    const missing = lines.filter((line) => hasWord(line) && !known.has(line));
    if (missing.length === 0) return [];
    const places = missing.map((text) => {
      return { behind: lines[lines.indexOf(text) - 1] ?? "", text };
    });
    const versions = [
      { text: missing.join(""), machine: open.writer.machine, at: this.#context.now, places },
      { text: "", machine: undefined },
    ] as const;
    return [{ kind: "elsewhere", versions }];
  }

  /** What the document has beyond a file that was made anew stays, and that is told. */
  async #renew(open: OpenDocument, known: FileState): Promise<TakenSave> {
    const before = splitLines(open.document.text.toString());
    const after = splitLines(splitForm(this.#file.content).lines);
    const kept = diffLines(before, after).flatMap(({ at, removed }) => {
      return before.slice(at, at + removed);
    });
    const state = takeFirst(this.#context, open, this.#file);
    // A command of ours, or a copy from elsewhere, may have put others' lines there.
    await noteShown(this.#context, open, known, state, this.#options);
    const versions = [
      { text: kept.join(""), machine: undefined },
      { text: "", machine: open.writer.machine, at: Math.round(this.#file.savedAt) },
    ] as const;
    const found: NewTextConflict[] = kept.some(hasWord) ? [{ kind: "renewed", versions }] : [];
    return { state, conflicts: await record(this.#context, open, found), moved: [] };
  }

  async #noteMoved({ moved }: TakenSave, arrivals: readonly Arrival[]): Promise<void> {
    const { dir } = this.#options.link;
    for (const { arrival, spans } of moved) {
      if (spans.length === 0 || !arrivals.includes(arrival)) continue;
      const change = { brought: spans, taken: [], moved: [], former: undefined };
      const id = await addArrival(this.#context.db, dir, change, arrival);
      this.#options.clock.came(id, arrival.id);
    }
  }

  /** Whether the document has, from now on, what the commits have done to the file. */
  #integrates(decision: FollowDecision): boolean {
    const relation = this.#sight.past?.relation;
    if (decision === "meet" || decision === "renew" || decision === "edit") return true;
    return decision === "follow" && (relation === "same" || relation === "onward");
  }

  /** Stores the state that was found, and the one that a write is to leave. */
  async #settle(open: OpenDocument, state: FileState, isFree: boolean): Promise<Taken> {
    const { document, head: position } = open;
    const { checkedOut, file } = this.#sight;
    const content = document.content();
    const isDue = isFree && content !== this.#file.content && this.#mayWrite(content);
    const { form } = splitForm(content);
    const next = isDue ? { hash: hashOf(content), base: document.captureText(), form } : undefined;
    const found = { path: file.path, ...state, checkedOut, isGone: false, position };
    const from = { ...found, next: undefined };
    await this.#write({ ...found, next });
    return next ? { kind: "write", from, to: next, content } : { kind: "done" };
  }

  /** Others' changes are written into what git leaves alone, or where the user agreed. */
  #mayWrite(content: string): boolean {
    const { standing, file } = this.#sight;
    const { write } = this.#options.link;
    if (file.kind === "absent") {
      const mayCreate = write || (standing.kind === "untracked" && standing.ignored);
      return mayCreate && content.trim() !== "";
    }
    return standing.kind !== "tracked" || write;
  }
}
