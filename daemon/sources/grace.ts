import type { World } from "../../shared/world.ts";
import type { FileContent } from "./file-edit.ts";
import type { FollowedState } from "./follow-store.ts";
import { FOLLOWED_PATHS } from "./read-file.ts";

export const GRACE_MS = 10_000;

/** How long a followed file has to be emptied or gone before that counts: many are for a moment. */
export class Grace {
  readonly #world: Pick<World, "monotonic">;
  /** Since when it is, by the steady clock. */
  #since: number | undefined;

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** For how many milliseconds more what was found is to be left alone. */
  left(known: FollowedState | undefined, file: FileContent & { readonly path: string }): number {
    const hadText = known !== undefined && known.base.text.trim() !== "";
    const isGone = hadText && isBehind(file.path, known.path);
    const isEmpty = hadText && file.path === known.path && file.content.trim() === "";
    if (!isGone && !isEmpty) {
      this.end();
      return 0;
    }
    const now = this.#world.monotonic();
    this.#since ??= now;
    return this.#since + GRACE_MS - now;
  }

  /** The next time it is emptied or gone counts from its beginning. */
  end(): void {
    this.#since = undefined;
  }
}

/** Whether a file is followed only where the other is not there. */
function isBehind(path: string, other: string): boolean {
  const paths: readonly string[] = FOLLOWED_PATHS;
  return paths.indexOf(path) > paths.indexOf(other);
}
