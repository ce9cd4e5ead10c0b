import type { AccountId, ProjectId } from "../../../shared/ids.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { type FileRead, textFrom } from "../../disk/read-file.ts";
import { hasBlob, isCommitted, isInGit, isStaged, isWrittenByGit } from "../../git/blob-in-git.ts";
import { isCommittedHere, madeFrom } from "../../git/branch-log.ts";
import { CommitMakers } from "../../git/commit-makers.ts";
import { findFetched } from "../../git/fetched-text.ts";
import { bytesAt, hasCommit } from "../../git/file-commits.ts";
import type { FileStep } from "../../git/file-steps.ts";
import { hasGitEndings } from "../../git/git-endings.ts";
import { readFilePast } from "../../git/git-past.ts";
import { type Head, headSignature } from "../../git/git-refs.ts";
import type { FileStanding } from "../../git/git-state.ts";
import { readKnownCommits } from "../../git/known-commits.ts";
import { readTrackedText, type Sighting, type TrackedRead } from "../../git/read-tracked-text.ts";
import type { Git } from "../../git/run-git.ts";
import { readKeptTexts } from "../../git/set-aside.ts";
import {
  findTreeEntry,
  readIndexEntry,
  readIndexTime,
  readIndexWrite,
} from "../../git/tracked-entries.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { fileText } from "../lines/file-state.ts";
import { linesThatStay } from "../lines/line-runs.ts";
import { type UndoneChanges, undoneChanges } from "../lines/undone-changes.ts";
import {
  type AsideText,
  type FromGit,
  type LeftBehind,
  NOTHING_SINCE,
  type Readable,
  type Sight,
  type SinceRead,
} from "../state/follow-facts.ts";
import { type FollowedState, isAnotherRepository, type MarkedText } from "../state/follow-store.ts";
import { checkedOutOf, hadCommit } from "./checked-out-at.ts";
import { asCommitted, type PassedStep, readPassedSteps, textInCommit } from "./passed-steps.ts";
import { findPassed } from "./passed-texts.ts";
import { hasChangesOf } from "./put-by-git.ts";
import { hasReadMarks, shownLines } from "./shown-by-git.ts";
import { readVisitedTexts } from "./visited-texts.ts";

/** Which file, and what is asked about it. */
export interface TrackedSightOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly git: Git;
  readonly account: AccountId;
  readonly projectId: ProjectId;
  /** The linked folder. */
  readonly dir: string;
}

/** The result of a look at a tracked file. */
export type TrackedSight =
  | { readonly kind: "sight"; readonly sight: GitSight }
  | Extract<FileRead, { kind: "problem" }>
  | Extract<TrackedRead, { kind: "not-now" }>
  /** Something else was checked out, or committed, meanwhile. */
  | { readonly kind: "moved" };

/** What is checked out, and what the file had before. */
interface AtHead {
  readonly head: Head;
  readonly known: FollowedState | undefined;
}

/** A sight without what only a missing file needs. */
type GitSight = Omit<Sight, "tree" | "beside">;
type Tracked = Extract<FileStanding, { kind: "tracked" }>;

/**
 * Gathers what git says about a tracked file on the default branch: its text, once that certainly
 * belongs to the branch, and what git brought or removed since the last read.
 *
 * ```
 * const { kind } = await sights.take(standing, known, { path: "CLAUDE.md", marked: undefined });
 * // "sight": it can be decided. "not-now": git may be at work, so look again.
 * ```
 */
export class TrackedSights {
  readonly #options: TrackedSightOptions;
  #sighting: Sighting | undefined;
  /** The text that the look before this one saw, and when the file got it. */
  #before: TimedText | undefined;
  #now: TimedText | undefined;

  constructor(options: TrackedSightOptions) {
    this.#options = options;
  }

  /** About ten git processes after HEAD moved or for a new save; else three. */
  async take(
    standing: Tracked,
    known: FollowedState | undefined,
    { path, marked }: { readonly path: string; readonly marked: MarkedText | undefined },
  ): Promise<TrackedSight> {
    const { git, world } = this.#options;
    const read = await readTrackedText(git, world, { file: standing.file, last: this.#sighting });
    this.#sighting = read.sighting;
    if (read.kind === "not-now") return read;
    const { head } = read;
    if (head.branch !== standing.defaultBranch) return { kind: "moved" };
    const text = read.bytes && textFrom(path, read.bytes, read.savedAt ?? world.now());
    if (text?.kind === "problem") return text;
    const file: Readable = text?.kind === "text" ? text : { kind: "absent", path };
    const { kept, headEntry } = read.sighting;
    this.#note(file);
    const sight = await this.#sightOf(standing, file, { head, known, headEntry, marked });
    // git's logs tell of a later commit as well, of which this text says nothing.
    const isStill = (await headSignature(standing.file.tree)) === read.headSeen;
    return isStill ? { kind: "sight", sight: { ...sight, kept } } : { kind: "moved" };
  }

  #note(file: Readable): void {
    if (file.kind !== "text" || file.hash === this.#now?.hash) return;
    this.#before = this.#now;
    this.#now = file;
  }

  async #sightOf(
    standing: Tracked,
    file: Readable,
    {
      head,
      known,
      headEntry,
      marked,
    }: AtHead & {
      readonly headEntry: string | undefined;
      readonly marked: MarkedText | undefined;
    },
  ): Promise<Omit<GitSight, "kept">> {
    const { git } = this.#options;
    const { tree } = standing.file;
    const checkedOut = await checkedOutOf(head, { tree, isTracked: true, headEntry });
    const isAnother = isAnotherRepository(known?.checkedOut, checkedOut);
    const isSame = known !== undefined && known.checkedOut.commit === head.commit;
    const put =
      isSame && !isAnother
        ? NOTHING_SINCE
        : await this.#since(standing, file.path, { head, known, isAnother });
    const content = file.kind === "text" ? file.content : "";
    const hasEndings = await hasGitEndings(git, standing.file, content);
    const at = { head, known };
    const steps = isAnother
      ? []
      : await this.#steps(standing, file.path, { ...at, put, hasEndings });
    const since = await this.#madeBy(standing, put, { ...at, last: steps.at(-1) });
    const isOnward = since.past?.relation === "onward";
    const last = steps.at(-1);
    const isMended = last?.isMended && last.content === asCommitted(content, hasEndings);
    const isSaid =
      marked && known && (isMended || (await this.#isSettled(standing, file, { known, marked })));
    return {
      file,
      standing,
      checkedOut,
      leftBehind: isAnother
        ? undefined
        : await this.#leftBehind(standing, file, { ...at, isOnward }),
      hasGitEndings: hasEndings,
      ...since,
      before:
        isOnward && isOthers(since)
          ? await this.#committedAt(standing, known?.checkedOut.commit, file.path)
          : undefined,
      fetched: isOthers(since) ? undefined : await this.#fetched(standing, file, at),
      passed: await this.#passed(standing, file, { ...at, steps, hasEndings }),
      visited: isAnother
        ? undefined
        : await readVisitedTexts(git, standing.file, { ...at, headEntry, file, hasEndings }),
      shown: isSaid ? shownLines(marked) : undefined,
    };
  }

  /** What git says of a file at `head`. */
  async #since(
    standing: Tracked,
    path: string,
    { head, known, isAnother }: AtHead & { readonly isAnother: boolean },
  ): Promise<SinceRead> {
    const past = await readFilePast(this.#options.git, standing.file, {
      head,
      read: known?.checkedOut.commit,
      isKnown: known !== undefined,
      isAnother,
      isTold: await this.#toldCommits(),
    });
    return { ...NOTHING_SINCE, past, committed: await this.#textIn(standing, past.putAt, path) };
  }

  /** Who made what is committed now. */
  async #madeBy(
    { file }: Tracked,
    since: SinceRead,
    { head: { branch, commit: to }, known, last }: AtHead & { readonly last: FileStep | undefined },
  ): Promise<SinceRead> {
    const { past } = since;
    if (!past || !known || to === undefined || past.relation === "same") return since;
    if (last) return { ...since, madeBy: last.madeBy, putAt: last.at };
    const [change] = past.changes;
    if (past.relation !== "onward" || change === undefined) return { ...since, madeBy: "others" };
    const from = known.checkedOut.commit;
    const makers = await CommitMakers.read(this.#options.git, file, { from, to, branch });
    return { ...since, madeBy: makers.of(change) };
  }

  async #steps(
    { file }: Tracked,
    path: string,
    asked: AtHead & { readonly put: SinceRead; readonly hasEndings: boolean },
  ): Promise<PassedStep[]> {
    const isTold = await this.#toldCommits();
    return await readPassedSteps(this.#options.git, file, { ...asked, path, isTold });
  }

  /** What others have committed that is not checked out, and may be taken from there. */
  async #fetched(
    standing: Tracked,
    file: Readable,
    { head: { commit }, known }: AtHead,
  ): Promise<FromGit | undefined> {
    if (!known || file.kind === "absent" || known.hash === file.hash) return undefined;
    if (commit === undefined || file.kind !== "text") return undefined;
    const { git } = this.#options;
    // What somebody types is not staged before they stage it.
    if (!(await isStaged(git, standing.file, file.content))) return undefined;
    const found = await findFetched(git, standing.file, commit);
    const after = found && (await this.#textIn(standing, found.commit, file.path));
    if (after === undefined) return undefined;
    const before = (found?.base && (await this.#textIn(standing, found.base, file.path))) ?? "";
    // Nor do they just happen to type all that others have changed.
    return hasChangesOf(after, { before, after: file.content }) ? { before, after } : undefined;
  }

  /** What the file had at commits that no look has found, before the text that is found now. */
  async #passed(
    standing: Tracked,
    file: Readable,
    {
      head: { branch },
      known,
      steps,
      hasEndings,
    }: AtHead & { readonly steps: readonly PassedStep[]; readonly hasEndings: boolean },
  ): Promise<Sight["passed"]> {
    if (!known || known.isGone || file.kind === "absent" || steps.length === 0) return undefined;
    const { path } = file;
    const before = await this.#committedAt(standing, known.checkedOut.commit, path);
    const isText = ({ content }: FileStep) => {
      return textFrom(path, Buffer.from(content), 0).kind === "text";
    };
    if (before === undefined || !steps.every(isText)) return undefined;
    const { tree } = standing.file;
    const commits = {
      textIn: (commit: string) => this.#textIn(standing, commit, path),
      checkedOutAt: (commit: string) => checkedOutOf({ branch, commit }, { tree, isTracked: true }),
    };
    const saved = { content: asCommitted(file.content, hasEndings), savedAt: file.savedAt };
    const text = asCommitted(fileText(known), hasEndings);
    return await findPassed(commits, { saved, before, known: text, steps });
  }

  async #toldCommits(): Promise<(commit: string) => boolean> {
    const { account, store, projectId } = this.#options;
    const told = await readKnownCommits(store.reader, account, projectId);
    return (commit) => told.has(commit);
  }

  /** Whether the file says what becomes of what git has shown, by somebody who has read that. */
  async #isSettled(
    standing: Tracked,
    file: Readable,
    { known, marked }: { readonly known: FollowedState; readonly marked: MarkedText },
  ): Promise<boolean> {
    const { git } = this.#options;
    const { commit } = known.checkedOut;
    if (commit === undefined || file.kind === "absent") return false;
    if (!(await hasCommit(git, standing.file, commit))) return false;
    const text = file.content;
    if (await isCommitted(git, standing.file, { commit, text })) return false;
    return hasReadMarks(shownLines(marked), text, fileText(known));
  }

  /**
   * What was saved and not committed is not undone by moving it with git to a stash or another
   * branch. git is asked only where such lines are missing, or deleted ones are there again.
   */
  async #leftBehind(
    standing: Tracked,
    file: Readable,
    { head: { commit }, known, isOnward }: AtHead & { readonly isOnward: boolean },
  ): Promise<LeftBehind | undefined> {
    const read = known?.checkedOut.commit;
    if (!known || file.kind === "absent" || known.hash === file.hash) return undefined;
    if (commit === undefined) return undefined;
    const committed = await this.#committedAt(standing, read, file.path);
    if (read === undefined || committed === undefined) {
      // A later commit brings the file, as one that renames it does, or the repository's first one.
      const isBrought = isOnward || !hadCommit(known.checkedOut);
      return isBrought ? undefined : await this.#putOver(standing, file);
    }
    const saved = fileText(known);
    const changes = undoneChanges(committed, saved, file.content);
    if (!changes.isAnyGone && changes.back.length === 0) return undefined;
    const { kept: noted } = known;
    const isAgain = known.setAside !== undefined && (await this.#isByGit(standing, file, changes));
    const back = { ...changes, isAgain };
    const kept = await this.#keptTexts(standing, back, { commit, noted });
    const isDiscarded =
      (await this.#isDiscarded(standing, file, { read, commit })) ||
      (changes.isMixed &&
        commit === read &&
        (await this.#isPartlyDiscarded(standing, file, commit))) ||
      (changes.isWhole && (await this.#mayBeDiscarded(standing, file, { known, changes, commit })));
    return { committed, kept, isDiscarded };
  }

  /** The text of the commit that was read; undefined where it had none, or git has deleted it. */
  async #committedAt(
    standing: Tracked,
    read: string | undefined,
    path: string,
  ): Promise<string | undefined> {
    if (read === undefined) return undefined;
    if (!(await hasCommit(this.#options.git, standing.file, read))) return undefined;
    return await this.#textIn(standing, read, path);
  }

  /**
   * What git has put over a file that it had not tracked: a text from a commit, as a checkout of an
   * older one does. What somebody has added is in no commit from before it was saved.
   */
  async #putOver({ file }: Tracked, seen: SeenText): Promise<LeftBehind | undefined> {
    const { content: committed } = seen;
    const isPut =
      (await isWrittenByGit(this.#options.git, file, committed)) &&
      (await this.#wasInGit(file, seen));
    return isPut ? { committed, kept: [], isDiscarded: true } : undefined;
  }

  /**
   * Whether git may have written the file anew, and somebody has edited it before anybody looked.
   * The index then knows it by a time between that of the text before and that of this one, or by
   * one of these: a file system's clock may stand still for ten milliseconds. Where it no longer
   * tells that, as after a commit, somebody who has taken out all that was written and
   * put back all that was deleted has more likely discarded it: so it is kept, and told.
   */
  async #mayBeDiscarded(
    { file: placed }: Tracked,
    file: SeenText,
    {
      known,
      changes,
      commit,
    }: {
      readonly known: FollowedState;
      readonly changes: UndoneChanges;
      readonly commit: string;
    },
  ): Promise<boolean> {
    const { git } = this.#options;
    const isBoth = changes.added.length > 0 && changes.back.length > 0;
    const before = [this.#now, this.#before].find((each) => each?.hash === known.hash);
    const at = await readIndexTime(git, placed);
    if (before && at !== undefined && at < Math.floor(before.savedAt)) return false;
    const savedAt = Math.floor(file.savedAt);
    const isBetween =
      before &&
      at !== undefined &&
      (at < savedAt || (at === savedAt && !(await isStaged(git, placed, file.content))));
    return isBetween ? await this.#isStagedAsCommitted(placed, commit) : isBoth;
  }

  /**
   * Whether git may have taken some places of the file back to the committed text, as `checkout -p`
   * does: it applies a patch to the file, and right after that writes its index, which knows the
   * file as committed still. Whoever deletes just such lines in an editor, a moment before git
   * writes its index for something else, is asked as well.
   */
  async #isPartlyDiscarded(
    { file }: Tracked,
    { savedAt }: TimedText,
    commit: string,
  ): Promise<boolean> {
    const writtenAt = await readIndexWrite(file);
    if (writtenAt === undefined) return false;
    const behind = Math.ceil(writtenAt) - Math.floor(savedAt);
    return behind >= 0 && behind <= REFRESH_MS && (await this.#isStagedAsCommitted(file, commit));
  }

  async #isStagedAsCommitted(file: Tracked["file"], commit: string): Promise<boolean> {
    const { git } = this.#options;
    const entry = await findTreeEntry(git, file, commit);
    return entry !== undefined && entry.object === (await readIndexEntry(git, file)).object;
  }

  /**
   * Whether the file is as git may have written it, and not because somebody committed that:
   * whoever commits a text means all that it lacks. The index knows what git has written, but not
   * where `git restore --source`, `git checkout-index` or a `git show` into the file did: then the
   * text is one that git keeps. Somebody may also have typed it, so it is told, and not taken.
   */
  async #isDiscarded(
    { file }: Tracked,
    { content: text, savedAt }: SeenText,
    last: { readonly read: string; readonly commit: string },
  ): Promise<boolean> {
    const { git } = this.#options;
    const isAt = (commit: string) => isCommitted(git, file, { commit, text });
    if (await isAt(last.read)) return true;
    const isSince = await isCommittedHere(git, file, last.read);
    if (!isSince && (await isWrittenByGit(git, file, text))) return true;
    if (isSince && (await isAt(last.commit))) return false;
    if (!(await hasBlob(git, file, text))) return false;
    const before = isSince ? savedAt : undefined;
    return await isInGit(git, file.tree.root, { name: file.pathInside, text, before });
  }

  /** Whether a text is from a commit that was made before the file had it. */
  async #wasInGit(
    { pathInside: name, tree }: Tracked["file"],
    { content: text, savedAt: before }: SeenText,
  ): Promise<boolean> {
    return await isInGit(this.#options.git, tree.root, { name, text, before });
  }

  /** Whether git may have undone a save as a whole. Somebody may also type what was deleted. */
  async #isByGit(
    { file: placed }: Tracked,
    { content }: { readonly content: string },
    { isWhole, added }: UndoneChanges,
  ): Promise<boolean> {
    if (!isWhole) return false;
    return added.length > 0 || (await isWrittenByGit(this.#options.git, placed, content));
  }

  /**
   * What git keeps. Where one lacks lines that came back, also the texts that it was made from.
   * `isAgain`: git had brought the save back from one of them before, and it is undone again.
   */
  async #keptTexts(
    { file }: Tracked,
    { then, before, back, added, isAgain }: UndoneChanges & { readonly isAgain: boolean },
    when: Parameters<typeof readKeptTexts>[2],
  ): Promise<readonly AsideText[]> {
    const { git } = this.#options;
    const kept = await readKeptTexts(git, file, when);
    return await Promise.all(
      kept.map(async ({ commit, bytes, isLater }): Promise<AsideText> => {
        const text = String(bytes);
        const lines = plainLines(text);
        const [ofThen, ofSaved] = [linesThatStay(then, lines), linesThatStay(before, lines)];
        // What was there before the last save cannot keep what that save deleted.
        const isWhole = added.every((at) => ofSaved.has(at)) && !back.some((at) => ofThen.has(at));
        const isOfSave = isLater || (isAgain && isWhole);
        if (!isOfSave || back.every((at) => ofThen.has(at))) return { text, before: [] };
        const from = await madeFrom(git, file, commit);
        const texts = await Promise.all(from.map((each) => bytesAt(git, file, each)));
        return { text, before: texts.flatMap((each) => (each ? [String(each)] : [])) };
      }),
    );
  }

  async #textIn(
    { file }: Tracked,
    commit: string | undefined,
    path: string,
  ): Promise<string | undefined> {
    return await textInCommit(this.#options.git, file, { commit, path });
  }
}

/** Whether what git has put there may be others'. */
function isOthers({ madeBy }: SinceRead): boolean {
  return madeBy !== undefined && madeBy !== "person";
}

/** For how long git takes at the most to write its index once it has written a file. */
const REFRESH_MS = 1000;

/** A text that a file has had, and when it was saved; see `FileContent`. */
interface TimedText {
  readonly hash: string;
  readonly savedAt: number;
}

interface SeenText extends TimedText {
  readonly content: string;
}
