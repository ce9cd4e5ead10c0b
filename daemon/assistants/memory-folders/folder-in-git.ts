import type { Reason } from "../../../shared/reasons.ts";
import type { World } from "../../../shared/world.ts";
import { TreeGuard } from "../../files/names/tree-guard.ts";
import { isBlobOf, isInGit } from "../../git/blob-in-git.ts";
import {
  type FolderStanding,
  folderStanding,
  ignoredAmong,
  treeSign,
} from "../../git/folder-standing.ts";
import { gitEndingsIn } from "../../git/git-endings.ts";
import { readFilePast } from "../../git/git-past.ts";
import { type Git, gitOutput } from "../../git/run-git.ts";
import { orUnknown } from "../../git/working-tree.ts";
import type { MemoryFile } from "../../home/memory-files.ts";

/** What git says of a tracked file that may be read: it is at rest on the default branch. */
export interface TrackedText {
  /** git's name of the committed text; empty: it is in no commit. */
  readonly committed: string;
  /** False: git has taken the file away. */
  readonly isInIndex: boolean;
}

/** `free`: git does not track it. `left`: it does, and the file is neither read nor written now. */
export type NameStanding = "free" | "left" | TrackedText;

/** A commit that git has brought, as far as one file goes. */
export interface BroughtText {
  /** What was committed when the file was read last. */
  readonly from: string;
}

/** What git says of a folder of memories at one look. */
export interface FolderInGit {
  /** How it treats a file of this name, which need not exist. */
  of(name: string): NameStanding;
  /** Whether git tracks a file of this name, wherever. */
  tracks(name: string): boolean;
  /** Why tracked files are left alone; undefined: they are not, or there are none. */
  readonly why: Reason | undefined;
  /** The commit that is checked out, where tracked files are read. */
  readonly commit: string | undefined;
  /** Whether git keeps what a missing file had, in a commit or a stash. */
  keeps(file: MemoryFile): Promise<boolean>;
  /**
   * Whether a text is as it is committed, and what was before it, if that is another commit which
   * the branch went on to. Undefined: it is not as committed.
   */
  committed(
    file: { readonly name: string; readonly content: string },
    read: { readonly known: MemoryFile | undefined; readonly commit: string | undefined },
  ): Promise<{ readonly brought: BroughtText | undefined } | undefined>;
  /** The tracked files of which git creates CRLF, in lower case. Throws `GitTrouble`. */
  endings(): Promise<ReadonlySet<string>>;
  /** Those of these missing files that may be made without anybody being asked. */
  ignored(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** Undefined: a missing file may be made now. `isStill` is to be asked right before. */
  making(isIgnored: boolean): Promise<Reason | { readonly isStill: () => Promise<boolean> }>;
}

/** Everything may be done with the files of a folder in which git has no say. */
export const NOT_IN_GIT: FolderInGit = {
  of: () => "free",
  tracks: () => false,
  why: undefined,
  commit: undefined,
  keeps: async () => false,
  committed: async () => undefined,
  endings: async () => new Set(),
  ignored: async (names) => new Set(names),
  making: async () => ({ isStill: async () => true }),
};

/** git's answer counts for this time, as long as its folder is as it was. */
const ASKED_MS = 10 * 60_000;
/** git's say and the files have to stand for so long before a tracked file is read. */
const GITS_QUIET_MS = 1000;

interface Stood {
  readonly sign: string;
  /** By the steady clock. */
  readonly at: number;
}

/** Asks git about one folder of memories, look after look. */
export class FolderGit {
  readonly #git: Git;
  readonly #world: Pick<World, "monotonic">;
  readonly #path: string;
  readonly #guard: TreeGuard;
  /** What git said last, if there is a repository. */
  #asked: { readonly standing: Tree; readonly at: number } | undefined;
  #stood: Stood | undefined;

  constructor(git: Git, world: Pick<World, "monotonic">, path: string) {
    this.#git = git;
    this.#world = world;
    this.#path = path;
    this.#guard = new TreeGuard({ git, world });
  }

  /** Equal as long as git does nothing, as far as that is known without a process. */
  async sign(): Promise<string> {
    const tree = this.#asked?.standing.folder.tree;
    if (!tree) return "";
    const found = await orUnknown(async () => ({
      kind: "sign" as const,
      sign: await treeSign(tree),
    }));
    return found.kind === "sign" ? found.sign : "unknown";
  }

  /** Whether git has done nothing since the last look. */
  async isAsAtLook(): Promise<boolean> {
    return (await this.sign()) === (this.#asked?.standing.sign ?? "");
  }

  /**
   * Asks git. `files`: equal as long as the files are; they were read before. `wasInGit`: then a
   * folder in no repository is one whose repository is gone for now.
   */
  async look(files: string, wasInGit: boolean): Promise<FolderInGit> {
    const standing = await this.#ask();
    if (standing.kind === "no-git") return wasInGit ? leftWith({ code: "leave-lost" }) : NOT_IN_GIT;
    if (standing.kind === "unknown") {
      return leftWith({ code: "leave-unknown", ...standing.why });
    }
    const isAtRest = this.#isAtRest(`${standing.sign} ${files}`);
    const why = whyLeft(standing) ?? (isAtRest ? undefined : NOT_YET);
    const base = this.#inTree(standing, why);
    return standing.operation === undefined ? base : await this.#busy(standing, base);
  }

  /** While git does nothing it is asked again only now and then. */
  async #ask(): Promise<FolderStanding> {
    const now = this.#world.monotonic();
    const { standing: last, at = now } = this.#asked ?? {};
    if (last && now - at < ASKED_MS && (await this.isAsAtLook())) return last;
    const standing = await folderStanding(this.#git, this.#path);
    this.#asked = standing.kind === "tree" ? { standing, at: now } : undefined;
    return standing;
  }

  /** Two looks some time apart have seen the same. */
  #isAtRest(sign: string): boolean {
    const now = this.#world.monotonic();
    if (this.#stood?.sign !== sign) this.#stood = { sign, at: now };
    return now - this.#stood.at >= GITS_QUIET_MS;
  }

  /** While git is at work, it may be about to bring whatever it does not ignore. */
  async #busy(standing: Tree, base: FolderInGit): Promise<FolderInGit> {
    const isIgnored = await orUnknown(async () => ({
      kind: "all" as const,
      is: (await ignoredAmong(this.#git, standing.folder, [PROBE])).has(PROBE),
    }));
    const isFree = isIgnored.kind === "all" && isIgnored.is;
    const of = (name: string) => (isFree ? base.of(name) : "left");
    return { ...base, of };
  }

  #inTree(standing: Tree, why: Reason | undefined): FolderInGit {
    const { folder, tracked, head } = standing;
    const git = this.#git;
    let past: ReturnType<typeof readFilePast> | undefined;
    const pastSince = (read: string | undefined) => {
      const asked = { head, read, isKnown: false, isAnother: false, isTold: () => false };
      past ??= readFilePast(git, folder, asked);
      return past;
    };
    return {
      of(name) {
        const found = tracked.get(name.toLowerCase());
        if (!found) return "free";
        if (why || found.isUnmerged || found.isSkipped) return "left";
        return { committed: found.committed ?? "", isInIndex: found.isInIndex };
      },
      tracks: (name) => tracked.has(name.toLowerCase()),
      why: tracked.size > 0 ? why : undefined,
      commit: why ? undefined : head.commit,
      keeps: ({ name, text }) => isInGit(git, folder.path, { name, text }),
      async committed({ name, content }, { known, commit }) {
        const object = tracked.get(name.toLowerCase())?.committed ?? "";
        if (!isBlobOf(object, content)) return undefined;
        const former = known?.tracked;
        if (!former || former === object) return { brought: undefined };
        const { relation } = await pastSince(commit);
        if (relation !== "same" && relation !== "onward") return { brought: undefined };
        const args = ["cat-file", "blob", former];
        const bytes = await gitOutput(git, folder.tree.root, { args, absent: [NO_SUCH] });
        return { brought: bytes && { from: String(bytes) } };
      },
      endings: async () => {
        const paths = await gitEndingsIn(git, folder);
        const from = folder.pathInside.length + 1;
        return new Set([...paths].map((path) => path.slice(from).toLowerCase()));
      },
      ignored: (names) => ignoredAmong(git, folder, names),
      making: async (ignored) => {
        const file = { kind: "untracked", ignored, head, file: folder } as const;
        const tree = await this.#guard.look(file);
        return tree.kind === "made" ? tree : { code: "wait-tree", making: tree.why };
      },
    };
  }
}

type Tree = Extract<FolderStanding, { kind: "tree" }>;

/** git's exit code for what it does not have. */
const NO_SUCH = 128;
const NOT_YET: Reason = { code: "not-now" };
/** If git ignores a file of this name, it ignores the whole folder. */
const PROBE = "memsync.md";

function leftWith(why: Reason): FolderInGit {
  return { ...NOT_IN_GIT, of: () => "left", why };
}

function whyLeft({ operation, head, defaultBranch }: Tree): Reason | undefined {
  if (operation !== undefined) return { code: "leave-busy", operation };
  const { branch } = head;
  if (branch !== undefined && branch === defaultBranch) return undefined;
  const followed = defaultBranch === undefined ? {} : { followed: defaultBranch };
  const named = branch === undefined ? {} : { branch };
  return { code: "leave-branch", isDetached: branch === undefined, ...named, ...followed };
}

/** Why a tracked file of a folder would be left alone now; undefined for any that would not. */
export async function leftByGit(
  git: Git,
  path: string,
): Promise<(name: string) => Reason | undefined> {
  const standing = await folderStanding(git, path);
  if (standing.kind === "no-git") return () => undefined;
  if (standing.kind === "unknown") {
    return () => ({ code: "leave-unknown", ...standing.why });
  }
  const why = whyLeft(standing);
  return (name) => (standing.tracked.has(name.toLowerCase()) ? why : undefined);
}
