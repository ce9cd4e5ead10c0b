import type {
  NewVersion,
  TextConflictRecord,
  TextVersion,
} from "../conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../store/open-document.ts";
import { hasWord } from "../text/line-diff.ts";
import { namesSamePlace } from "../text/neighbour-lines.ts";
import { holdsLines } from "../text/standing-lines.ts";
import { plainLines } from "../text/text-form.ts";
import type { KeptEdit, MetSides } from "./kept-edits.ts";
import { type MergedLine, readMergedText } from "./merged-lines.ts";

/**
 * What open conflicts say about places where one side wrote something and the other deleted
 * something.
 */
export class KnownBeside {
  readonly #known: readonly TextConflictRecord[];
  readonly #lines: readonly MergedLine[];
  /** The lines of open conflicts. Such a line may go, so it can't name a place. */
  readonly #disputed: ReadonlySet<string>;

  constructor(
    { document }: OpenDocument,
    { mine, theirs }: Pick<MetSides, "mine" | "theirs">,
    known: readonly TextConflictRecord[],
  ) {
    this.#known = known;
    this.#lines = readMergedText(document.text, mine, theirs).lines;
    const texts = known.flatMap(({ versions }) => versions.map(({ text }) => text));
    this.#disputed = new Set(texts.flatMap(plainLines).filter(hasWord));
  }

  /** The edit with its place, which is named by lines that nobody disputes. */
  placed(edit: KeptEdit): KeptEdit {
    const first = this.#lines.findIndex(({ from }) => from >= edit.at);
    if (first === -1 || this.#disputed.size === 0) return edit;
    const end = first + plainLines(edit.text).length;
    const isNamed = (line: string) => hasWord(line) && !this.#disputed.has(line);
    const isDisputed = lastSaid(edit.behind) !== undefined && !isNamed(lastSaid(edit.behind) ?? "");
    const before = this.#lines.slice(0, first).map(({ text }) => text);
    const at = before.findLastIndex(isNamed);
    const behind = before.slice(Math.max(0, at)).filter((line) => !this.#disputed.has(line));
    const ahead = this.#lines.slice(end).find(({ text }) => isNamed(text))?.text;
    return {
      ...edit,
      behind: isDisputed ? behind.map((line) => `${line}\n`).join("") : edit.behind,
      ahead: ahead === undefined ? "" : `${ahead}\n`,
    };
  }

  /**
   * What the side that deleted has there instead, as far as an open conflict between that side and
   * a third one tells. The meeting of the two sides does not tell it, because lines that are no
   * part of it stand between.
   */
  rivalsOf(edit: KeptEdit): NewVersion[] {
    const deleter = edit.by === "mine" ? "theirs" : "mine";
    const found = new Map<string, NewVersion>();
    for (const { kind, versions } of this.#known) {
      if (kind !== "both" && kind !== "unseen") continue;
      for (const version of versions) {
        const { text, machine, places, cut } = version;
        const isThere = !cut && standsBehind(version, edit.behind);
        if (isThere && this.#isOf(deleter, text) && !holdsLines(text, edit.text))
          found.set(text, { text, machine, places });
      }
    }
    return [...found.values()];
  }

  /**
   * Whether an open conflict already has the lines of an edit, at that place. Not if its other
   * version is of the edit's own side, too: such a conflict, with a third side, says nothing of the
   * side that deleted.
   */
  isTold(edit: KeptEdit): boolean {
    return this.#known.some(({ versions }) => {
      if (!isOfPlace(versions, edit)) return false;
      const rivals = versions.filter(({ text }) => !holdsLines(text, edit.text));
      return !rivals.some(({ text }) => text !== "" && this.#isOf(edit.by, text));
    });
  }

  /** Whether all that a version says stands, and one side wrote it. */
  #isOf(side: MergedLine["side"], text: string): boolean {
    const said = plainLines(text).filter(hasWord);
    const isThere = (line: string) =>
      this.#lines.some((each) => each.side === side && each.text === line);
    return said.length > 0 && said.every(isThere);
  }
}

/**
 * Whether a conflict has the lines of an edit, at that place: behind the same line, or behind a
 * line of the conflict itself. If the conflict's places were not kept, its lines alone decide.
 */
function isOfPlace(versions: readonly TextVersion[], { text, behind }: KeptEdit): boolean {
  const before = lastSaid(behind);
  const own = versions.flatMap((each) => plainLines(each.text));
  const isBeside = before !== undefined && own.includes(before);
  return versions.some((each) => {
    const isThere = isBeside || each.places.length === 0 || standsBehind(each, behind);
    return holdsLines(each.text, text) && isThere;
  });
}

function standsBehind({ places }: TextVersion, place: string): boolean {
  return places.some(({ behind }) => namesSamePlace(behind, place));
}

/** The last of whole lines that has a word. */
function lastSaid(lines: string): string | undefined {
  return plainLines(lines).findLast(hasWord);
}
