import type {
  PlacedLines,
  TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { changeForm, joinForm, splitForm } from "../../shared/replica/text/text-form.ts";
import { holdsAnyLine } from "../../shared/replica/text/standing-lines.ts";
import { CommandFailed } from "../screen/errors.ts";
import type { PlacedVersion, TextConflict } from "../local/local-conflicts.ts";
import {
  findPlace,
  openContent,
  putAtPlaces,
  putBack,
  spliceLines,
  withBlanks,
  withoutLines,
} from "./put-back.ts";
import { parseFormat } from "../views/text-format-view.ts";

/** Stands behind nothing in any text: only lines that stand once are found by it. */
const NOWHERE = "\0\n";

/** What settling a conflict makes of a text, in two steps. */
export interface Settled {
  /** Without either version. */
  readonly without: string;
  /** With the one that was chosen. */
  readonly content: string;
}

/**
 * The text in which one version of a conflict stands and the other does not. `chosen` is 0 or 1.
 * Throws where it can't be said for sure which lines are meant, or where what is to come back was
 * too long to be kept in the conflict.
 */
export function settle({ record, versions, content }: TextConflict, chosen: number): Settled {
  const [wanted, other] = [versions[chosen], versions[1 - chosen]];
  if (!wanted || !other) throw new CommandFailed("a conflict has two versions: choose 1 or 2");
  if (record.kind === "format") {
    return {
      without: content,
      content: wanted.inText ? content : writtenAs(content, wanted, other),
    };
  }
  if (record.kind === "moved") {
    if (wanted.inText) return { without: content, content };
    const without = takeOut(content, other);
    return { without: without.content, content: bringBack(without.content, wanted, without.at) };
  }
  const first = other.inText ? takeOut(content, other) : { content, at: undefined };
  if (!wanted.inText || wanted.text === "") {
    const brought = wanted.text === "" ? first.content : bringBack(first.content, wanted, first.at);
    return { without: first.content, content: brought };
  }
  // Lines that can't be told from others stay as they are: they are what was chosen.
  const anew = tryTakeOut(first.content, wanted)?.content ?? first.content;
  return { without: anew, content: first.content };
}

/** The text in the chosen form: all its line endings are one, unless the versions agree in them. */
function writtenAs(content: string, wanted: TextVersion, other: TextVersion): string {
  const [{ eol, ...parts }, rejected] = [parseFormat(wanted.text), parseFormat(other.text)];
  if (eol === rejected.eol) {
    const { form, lines } = splitForm(content);
    return joinForm(lines, { ...form, ...parts });
  }
  if (eol !== "mixed") return changeForm(content, { eol, ...parts });
  throw new CommandFailed(
    "nobody knows any more which lines had which of the mixed line endings: " +
      "`memsync doc history` has the text that had them, `memsync doc restore REV` brings it back",
  );
}

/** The text without a version's lines, and where the first of them stood. */
function takeOut(content: string, version: TextVersion) {
  if (version.cut) throw tooLong();
  const taken = tryTakeOut(content, version);
  if (!taken) throw unsure();
  return taken;
}

function tryTakeOut(content: string, version: TextVersion) {
  const open = openContent(content);
  const gone = new Set<number>();
  let first: number | undefined;
  for (const place of placesOf(version)) {
    const found = findPlace(open, place);
    // What somebody has taken out since is out.
    if (!found && !holdsAnyLine(content, place.text)) continue;
    if (!found) return undefined;
    const { at, count } = withBlanks(open, found, place);
    for (let line = at; line < at + count; line++) gone.add(line);
    first ??= at;
  }
  const end = first;
  const at = end === undefined ? undefined : end - [...gone].filter((line) => line < end).length;
  return { content: withoutLines(open, gone), at };
}

function placesOf({ places, text }: TextVersion): readonly PlacedLines[] {
  return places.length > 0 ? places : [{ behind: NOWHERE, text }];
}

/** Beside what it stood beside, or where the other version was taken out. */
function bringBack(content: string, { text, places, cut }: PlacedVersion, at: number | undefined) {
  if (cut) throw tooLong();
  if (places.length > 0) return putAtPlaces(content, places);
  if (at === undefined) return putBack(content, text, "");
  return spliceLines(openContent(content), at, 0, text);
}

function tooLong(): CommandFailed {
  return new CommandFailed(
    "a version is too long to be kept here whole: `memsync doc history` has the texts that held " +
      "it, and `memsync doc restore REV` brings one back",
  );
}

function unsure(): CommandFailed {
  return new CommandFailed(
    "its lines have changed since, or stand at several places: edit the document as you want it, " +
      "then `memsync conflicts dismiss ID`",
  );
}
