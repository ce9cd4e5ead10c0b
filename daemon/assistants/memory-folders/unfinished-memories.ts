import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import { takenUnseen } from "../../files/arrivals/unseen-lines.ts";
import {
  isUncut,
  isUnfinished,
  UNFINISHED_MS,
  UNFINISHED_MS_MAX,
} from "../../files/state/unfinished.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { noteWaiting } from "../../home/waiting-since.ts";
import { isMendOf } from "./index-lines.ts";
import type { MemoryText } from "./read-memory-folder.ts";
import { shownBytes } from "./shown-bytes.ts";

/** A file that is empty for this long is asked about. */
const EMPTIED_MS = 10_000;

interface UnfinishedOptions {
  readonly world: Pick<World, "monotonic" | "now">;
  readonly store: Pick<ReplicaStore<DaemonTables>, "write">;
}

/** A file that has another text than before. */
interface ChangedMemory {
  readonly former: MemoryFile | undefined;
  readonly file: MemoryText;
  /** Lines that stay whether or not the text has them. */
  readonly unseen: readonly CameLine[];
}

/** Measures how long texts that may be half written have stood, by the path of their file. */
export class UnfinishedMemories {
  readonly #options: UnfinishedOptions;
  readonly #seen = new Map<string, { readonly hash: string; readonly at: number }>();
  /** Since when a file is empty, by the steady clock. */
  readonly #emptied = new Map<string, number>();

  constructor(options: UnfinishedOptions) {
    this.#options = options;
  }

  /**
   * Whether somebody emptied a file a moment ago, or made it: most programs that write a text anew
   * begin so. Not where it is asked about already.
   */
  isJustEmptied(path: string, former: MemoryFile | undefined, file?: MemoryText): boolean {
    const isEmptied = file?.content.trim() === "" && former?.text.trim() !== "";
    if (!isEmptied || former?.asked) {
      this.#emptied.delete(path);
      return false;
    }
    const now = this.#options.world.monotonic();
    const since = this.#emptied.get(path) ?? now;
    this.#emptied.set(path, since);
    return now - since < EMPTIED_MS;
  }

  /**
   * Whether a text is not to be taken yet. By the rule for followed files; see `isUnfinished`. A
   * program may save again and again, and the daemon may be killed as often: since when the file
   * waits is in the home.
   */
  async isUnfinished(path: string, changed: ChangedMemory): Promise<boolean> {
    const { former, file } = changed;
    const { world, store } = this.#options;
    if (file.hash === former?.hash || !mayBeHalf(changed)) {
      this.#seen.delete(path);
      return false;
    }
    const now = world.monotonic();
    const { hash, at } = this.#seen.get(path) ?? { hash: "", at: now };
    const since = hash === file.hash ? at : now;
    this.#seen.set(path, { hash: file.hash, at: since });
    if (now - since >= UNFINISHED_MS) return false;
    const firstAt = await store.write(({ db }) => noteWaiting(db, path, world.now()));
    return world.now() - firstAt < UNFINISHED_MS_MAX;
  }
}

/** Whether a text looks half written. What is left of the former one may be of any line of that. */
export function mayBeHalf({ former, file, unseen }: ChangedMemory): boolean {
  if (former && isUncut(shownBytes(former), file.asRead ?? file.content)) return true;
  return isUnfinished(former && stateOf(expectedOf(former, file, unseen)), file);
}

/** What a file showed, without the lines that the text need not have. */
function expectedOf(
  former: MemoryFile,
  { content }: MemoryText,
  unseen: readonly CameLine[],
): Pick<MemoryFile, "hash" | "text"> {
  const sides = { shown: former.text, saved: content };
  const text = takenUnseen(sides, unseen, isMendOf)?.base ?? former.text;
  return { hash: former.hash, text };
}

/** A memory has no characters of a document. */
function stateOf({ hash, text }: Pick<MemoryFile, "hash" | "text">) {
  const { form, lines } = splitForm(text);
  return { hash, base: { text: lines, spans: [] }, form };
}
