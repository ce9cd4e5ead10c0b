import type { World } from "../../../shared/world.ts";
import { type FindGitProcess, findGitProcess } from "../../git/git-processes.ts";
import type { FileStanding } from "../../git/git-state.ts";
import type { Git } from "../../git/run-git.ts";
import { readTreeMaking, type Unmade } from "../../git/tree-making.ts";
import { orUnknown } from "../../git/working-tree.ts";

/** Before a file that git does not know is created, git must have stood still for this long. */
export const TREE_QUIET_MS = 10_000;

/** Whether a missing file may be made. */
export type TreeReadiness =
  /** `isStill` is to be asked right before the file is created. */
  | { readonly kind: "made"; readonly isStill: () => Promise<boolean> }
  | { readonly kind: "making"; readonly why: WhyMaking; readonly againMs: number | "later" };

/**
 * `at-work`: a git process is. `changed`: git changed something a moment ago. `unknown`: git gave
 * no answer.
 */
export type WhyMaking = Unmade | "at-work" | "changed" | "unknown";

/** git does not stand in the way. */
export const TREE_MADE: TreeReadiness = { kind: "made", isStill: async () => true };

export interface TreeGuardOptions {
  readonly git: Git;
  readonly world: Pick<World, "monotonic">;
  /** Replaces the search for git's processes, in tests. */
  readonly findGitProcess?: FindGitProcess | undefined;
}

/**
 * Keeps a missing file from being created while git still creates the working tree. A file that git
 * ignores only has to wait for a whole tree, since git overwrites such files.
 */
export class TreeGuard {
  readonly #options: TreeGuardOptions;
  #seen: { readonly signature: string; readonly sinceMs: number } | undefined;

  constructor(options: TreeGuardOptions) {
    this.#options = options;
  }

  /** One look. Never rejects because of git or the file system. */
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

  /** How much longer it must stand still. The time of a slow look does not count. */
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
