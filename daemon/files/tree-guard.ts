import type { World } from "../../shared/world.ts";
import { type FindGitProcess, findGitProcess } from "../git/git-processes.ts";
import type { FileStanding } from "../git/git-state.ts";
import type { Git } from "../git/run-git.ts";
import { readTreeMaking, type Unmade } from "../git/tree-making.ts";
import { orUnknown } from "../git/working-tree.ts";

/** Before a file is made that git does not know, all of git must have stood still for so long. */
export const TREE_QUIET_MS = 10_000;

/** Whether a missing file may be made. */
export type TreeReadiness =
  /** `isStill` is to be asked in the last moment before. */
  | { readonly kind: "made"; readonly isStill: () => Promise<boolean> }
  | { readonly kind: "making"; readonly why: WhyMaking; readonly againMs: number | "later" };

/** `at-work`: a process is; `changed`: something was a moment ago; `unknown`: git could not say. */
export type WhyMaking = Unmade | "at-work" | "changed" | "unknown";

/** Nothing of git's is in the way. */
export const TREE_MADE: TreeReadiness = { kind: "made", isStill: async () => true };

export interface TreeGuardOptions {
  readonly git: Git;
  readonly world: Pick<World, "monotonic">;
  /** Other than the real thing. */
  readonly findGitProcess?: FindGitProcess | undefined;
}

/**
 * Keeps a missing file from being made while git is still making the working tree. A file that git
 * ignores has to wait for a whole tree only: git writes over such a one.
 */
export class TreeGuard {
  readonly #options: TreeGuardOptions;
  #seen: { readonly signature: string; readonly sinceMs: number } | undefined;

  constructor(options: TreeGuardOptions) {
    this.#options = options;
  }

  /** Looks once. Never rejects for what git or the file system says. */
  async look(standing: FileStanding): Promise<TreeReadiness> {
    if (standing.kind !== "untracked" && standing.kind !== "tracked") return TREE_MADE;
    const { git, world } = this.#options;
    const { tree } = standing.file;
    const head = standing.kind === "untracked" ? standing.head : standing;
    const startedMs = world.monotonic();
    const found = await orUnknown(() => readTreeMaking(git, tree, head));
    if (found.kind !== "made") return making(found.kind === "making" ? found.why : "unknown");
    const isStill = async () => {
      const now = await orUnknown(() => readTreeMaking(git, tree, head));
      return now.kind === "made" && now.signature === found.signature;
    };
    if (standing.kind === "untracked" && standing.ignored) return { kind: "made", isStill };
    const leftMs = this.#quietLeft(found.signature, startedMs);
    if (leftMs > 0) return { kind: "making", why: "changed", againMs: leftMs };
    const isAtWork = await (this.#options.findGitProcess ?? findGitProcess)(tree);
    return isAtWork ? making("at-work") : { kind: "made", isStill };
  }

  /** For how long it must stand as it is. A slow look is no quiet time. */
  #quietLeft(signature: string, startedMs: number): number {
    if (this.#seen?.signature !== signature) {
      this.#seen = { signature, sinceMs: this.#options.world.monotonic() };
      return TREE_QUIET_MS;
    }
    return Math.max(0, this.#seen.sinceMs + TREE_QUIET_MS - startedMs);
  }
}

function making(why: WhyMaking): TreeReadiness {
  return { kind: "making", why, againMs: "later" };
}
