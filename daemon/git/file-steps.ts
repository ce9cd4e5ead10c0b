import { linesOfAny } from "../../shared/replica/text/lines-of-any.ts";
import { carriedBeside, carriedOver } from "./carried-over.ts";
import { type CommitMaker, CommitMakers } from "./commit-makers.ts";
import { type FileChangeInGit, readFileChanges } from "./file-changes.ts";
import { commitsFrom } from "./file-commits.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** A text that a file had at a commit. */
export interface FileStep {
  readonly commit: string;
  readonly content: string;
  /** Who has made what changed then. */
  readonly madeBy: CommitMaker;
  /** When it was made here, or others' commits came; undefined where nothing tells. */
  readonly at: number | undefined;
  /** The commits, the newest first. */
  readonly changes: readonly string[];
  /** git's marks stood in the file, and a person has put this in their place. */
  readonly isMended?: boolean;
  /** git has shown this with its marks: no commit has it. */
  readonly isShown?: boolean;
}

/** From where to where, and what the file had and has there. */
export interface StepsAsked {
  readonly from: string;
  readonly to: string;
  readonly branch: string | undefined;
  /** What the file had, and what of it was committed. */
  readonly text: string;
  readonly before: string;
  /** What it has in the last commit. */
  readonly committed: string;
  /** What git's marks have shown in the file; undefined where none stood there. */
  readonly shown: ShownByMarks | undefined;
  /** Whether somebody who has saved a text has surely read these, where no look has seen them. */
  readonly hasRead: (content: string, beside: TwoSides) => boolean;
}

/** Two versions of a file that git could not bring together. */
export interface TwoSides {
  /** Both versions of each place, without marks. */
  readonly text: string;
  /** The lines that git has shown between its marks. */
  readonly disputed: readonly string[];
  /** What the changes were made of that git could not bring in. */
  readonly base: string;
}

/** A text in which git could not bring two versions together. */
export interface ShownByMarks {
  /** The text with both versions of each place, without the marks. */
  readonly text: string;
  /** When it came into the file; undefined where nothing tells. */
  readonly at: number | undefined;
  /** Whether somebody who has saved this has surely read it. */
  readonly isReadIn: (content: string) => boolean;
}

/** Of more commits of the file than this only the last text is told, as anybody's. */
const CHANGES_MAX = 100;

/**
 * The texts that a file had from commit to commit, the oldest first: what looks would have found
 * there. Others' commits in a row are one step, as a pull brings them. Asks the commits themselves:
 * which command has checked them out says nothing of who has made them. About six git processes,
 * and two for each commit.
 */
export async function readFileSteps(
  git: Git,
  file: PlacedFile,
  asked: StepsAsked,
): Promise<FileStep[]> {
  const makers = await CommitMakers.read(git, file, asked);
  const steps = await new Steps(git, file, { ...asked, makers }).all();
  return await Promise.all(
    steps.map(async (step, nth) => {
      if (step.madeBy !== "others" || step.at !== undefined) return step;
      const at = await cameAt(git, file, { ...asked, step, makers, next: steps[nth + 1] });
      return { ...step, at };
    }),
  );
}

/** A commit that changed the file, and who made it. */
interface Change extends FileChangeInGit {
  readonly by: CommitMaker;
}

/** What git has shown of it, where that is what is put. */
interface PutChange extends Pick<Change, "commit" | "at"> {
  readonly shown?: ShownByMarks;
}

class Steps {
  readonly #git: Git;
  readonly #file: PlacedFile;
  readonly #asked: StepsAsked & { readonly makers: CommitMakers };
  readonly #steps: FileStep[] = [];
  /** The text after the changes so far; undefined where git may not have merged one by itself. */
  #text: string | undefined;
  /** What git shows in its place then. */
  #sides: TwoSides | undefined;
  /** The changes that led there from the last text that is known. */
  #unsure: Change[] = [];

  constructor(git: Git, file: PlacedFile, asked: StepsAsked & { readonly makers: CommitMakers }) {
    this.#git = git;
    this.#file = file;
    this.#asked = asked;
    this.#text = asked.text;
  }

  async all(): Promise<FileStep[]> {
    const { committed, before, text } = this.#asked;
    // What waits to be committed goes along, as with `--autostash`.
    const found = carriedOver(committed, before, text) ?? committed;
    const changes = await this.#changes();
    const isCut = changes.length >= CHANGES_MAX;
    if (isCut) this.#unsure = changes;
    else for (const change of changes) await this.#add(change);
    const last = changes.at(-1);
    if (!last || this.#text === found) return this.#steps;
    // What the last commit has beyond others' changes, or lacks of them.
    if (this.#steps.at(-1)?.commit === last.commit) this.#steps.pop();
    if (this.#unsure.length === 0) this.#unsure = [last];
    await this.#putUnread(found);
    this.#put(found, isCut || last.by === "others" ? "anybody" : this.#maker(found), last);
    return this.#steps;
  }

  async #changes(): Promise<Change[]> {
    const { from, to, makers } = this.#asked;
    const changes: FileChangeInGit[] = [];
    const before = [from];
    for (const tip of [...makers.replaced, to]) {
      const asked = { from: before, to: tip, countMax: CHANGES_MAX };
      changes.push(...(await readFileChanges(this.#git, this.#file, asked)));
      before.push(tip);
    }
    return changes.map((change) => ({ ...change, by: makers.of(change.commit) }));
  }

  async #add(change: Change): Promise<void> {
    const before = this.#text;
    this.#unsure.push(change);
    this.#text = await this.#after(change);
    if (this.#text === undefined) return;
    if (this.#text !== before) {
      await this.#putUnread(this.#text);
      this.#put(this.#text, this.#maker(this.#text), change);
    }
    this.#unsure = [];
  }

  async #after({ from, to, isMerge, by }: Change): Promise<string | undefined> {
    const after = await blobText(this.#git, this.#file, to);
    // What was merged by hand is known at the merge.
    if (this.#text === undefined && isMerge) return after;
    const before = await blobText(this.#git, this.#file, from);
    const last = this.#text === undefined ? this.#sides : undefined;
    const text = this.#text ?? last?.text;
    if (text === undefined) return undefined;
    const carried = carriedBeside(text, before, after);
    if (this.#text !== undefined && !carried.disputed) return carried.text;
    // What is made of others' changes then is what a person has put there by hand.
    if (this.#text !== undefined || by === "others") {
      this.#sides = {
        text: carried.text,
        disputed: [...(last?.disputed ?? []), ...(carried.disputed ?? [])],
        base: [...(last ? [last.base] : []), before].join("\n"),
      };
    }
    return undefined;
  }

  /** What git has shown with its marks, also where they were gone before anybody looked. */
  #shown(): ShownByMarks | undefined {
    const { shown, hasRead } = this.#asked;
    const sides = this.#sides;
    if (shown || !sides) return shown;
    return { text: sides.text, at: undefined, isReadIn: (content) => hasRead(content, sides) };
  }

  /**
   * Whoever had to finish others' changes may not have read what git has shown of them: then that
   * stood in the file like what a pull brings, and somebody has saved over it. What neither others'
   * commit nor the file had before a person has typed, and a rebase may have shown it as git's own.
   */
  async #putUnread(over: string): Promise<void> {
    const { makers, text, before } = this.#asked;
    const shown = this.#shown();
    const last = this.#unsure.findLast(({ by }) => by === "others");
    const isByHand = this.#unsure.some(({ commit }) => makers.isByHand(commit));
    if (!last || !isByHand || !shown || shown.isReadIn(over)) return;
    const rest = this.#unsure.filter(({ by }) => by !== "others");
    this.#unsure = this.#unsure.filter(({ by }) => by === "others");
    const had = [text, before, this.#steps.at(-1)?.content ?? ""];
    const known = [await blobText(this.#git, this.#file, last.to), ...had];
    this.#put(linesOfAny(shown.text, known), "others", { ...last, shown });
    this.#unsure = rest;
  }

  #put(content: string, madeBy: CommitMaker, { commit, at, shown }: PutChange): void {
    const last = this.#steps.at(-1);
    const isGoneOn = madeBy === "others" && last?.madeBy === "others";
    if (isGoneOn) this.#steps.pop();
    const changes = this.#unsure.map((each) => each.commit).toReversed();
    const isMade = madeBy === "person" || madeBy === "revert";
    const isMended = this.#isMendedAs(content);
    this.#steps.push({
      commit,
      content,
      madeBy,
      at: isMade ? at : shown?.at,
      changes: [...changes, ...(isGoneOn ? last.changes : [])],
      ...(isMended && { isMended }),
      ...(shown && { isShown: true }),
    });
  }

  /** Who made the changes since the last text that is known. */
  #maker(content: string): CommitMaker {
    const [one, ...more] = this.#unsure;
    if (one && more.every(({ by }) => by === one.by)) return one.by;
    return this.#isMendedAs(content) ? "person" : "anybody";
  }

  /** Whether a person had to finish these changes, and has read git's marks in the file. */
  #isMendedAs(content: string): boolean {
    const { shown, makers } = this.#asked;
    const isByHand = this.#unsure.some(({ commit }) => makers.isByHand(commit));
    return isByHand && shown?.isReadIn(content) === true;
  }
}

/** When others' commits came: HEAD's log has it, unless it was in another working tree. */
async function cameAt(
  git: Git,
  file: PlacedFile,
  {
    step: { commit },
    next,
    to,
    makers: { entries, replaced },
  }: StepsAsked & {
    readonly step: FileStep;
    readonly next: FileStep | undefined;
    readonly makers: CommitMakers;
  },
): Promise<number | undefined> {
  const after = await commitsFrom(git, file, { one: commit, others: [to, ...replaced] });
  const has = new Set([commit, ...after]);
  const until = entries.findLastIndex((entry) => entry.commit === next?.commit);
  const before = entries.slice(until + 1);
  const came = before.find((entry, nth) => {
    return has.has(entry.commit) && !has.has(before[nth + 1]?.commit ?? "");
  });
  return came?.at;
}

/** A text by git's name for it; empty where the file was not there. */
async function blobText(git: Git, { tree }: PlacedFile, name: string | undefined): Promise<string> {
  if (name === undefined) return "";
  return String(await gitOutput(git, tree.root, { args: ["cat-file", "blob", name] }));
}
