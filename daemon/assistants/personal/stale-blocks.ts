import type { World } from "../../../shared/world.ts";
import type { PersonalFile } from "../../home/personal-files.ts";
import { RecentTexts } from "../memory-folders/recent-texts.ts";
import { type PersonalVersion, parseVersion } from "./version.ts";

/**
 * What blocks showed before others' changes came into them within the last minute. A program that
 * read a file before that may save it after, and has not seen them.
 */
export class StaleBlocks {
  readonly #recent: RecentTexts;
  /** What came last into each file. */
  readonly #arrived = new Map<string, string>();

  constructor(world: Pick<World, "monotonic">) {
    this.#recent = new RecentTexts(world);
  }

  /** Others' changes came into a file. */
  arrived({ path }: Pick<PersonalFile, "path">, before: string, after: string): void {
    this.#recent.note(path, before);
    this.#recent.note(path, after);
    this.#arrived.set(path, after);
  }

  /** The version from which a save was made that has nothing of what came; undefined: it has. */
  baseOf(
    { path, shown }: Pick<PersonalFile, "path" | "shown">,
    saved: string,
    versions: readonly PersonalVersion[],
  ): PersonalVersion | undefined {
    // Who has saved since then has seen it.
    const isLast = shown !== undefined && parseVersion(shown).text === this.#arrived.get(path);
    const text = isLast ? this.#recent.staleBase(path, saved) : undefined;
    return text === undefined ? undefined : versions.findLast((each) => each.text === text);
  }
}
