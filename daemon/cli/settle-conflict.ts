import type { PlacedLines, TextVersion } from "../../shared/replica/text-conflict-record.ts";
import { joinForm, splitForm } from "../../shared/replica/text-form.ts";
import { CommandFailed } from "./errors.ts";
import type { PlacedVersion, TextConflict } from "./local-conflicts.ts";
import { findPlace, holdsAnyLine, putAtPlaces, putBack } from "./put-back.ts";
import { parseFormat } from "./text-format-view.ts";

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
    const written = joinForm(splitForm(content).lines, parseFormat(wanted.text));
    return { without: content, content: written };
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

/** The text without a version's lines, and where the first of them stood. */
function takeOut(content: string, version: TextVersion) {
  if (version.cut) throw tooLong();
  const taken = tryTakeOut(content, version);
  if (!taken) throw unsure();
  return taken;
}

function tryTakeOut(content: string, version: TextVersion) {
  const { form, lines } = splitForm(content);
  let [rest, first]: [string, number | undefined] = [lines, undefined];
  for (const place of placesOf(version)) {
    const found = findPlace(rest, place);
    // What somebody has taken out since is out.
    if (!found && !holdsAnyLine(rest, place.text)) continue;
    if (!found) return undefined;
    rest = rest.slice(0, found.from) + rest.slice(found.to);
    first ??= found.from;
  }
  return { content: joinForm(rest, form), at: first };
}

function placesOf({ places, text }: TextVersion): readonly PlacedLines[] {
  return places.length > 0 ? places : [{ behind: NOWHERE, text }];
}

/** Beside what it stood beside, or where the other version was taken out. */
function bringBack(content: string, { text, places, cut }: PlacedVersion, at: number | undefined) {
  if (cut) throw tooLong();
  if (places.length > 0) return putAtPlaces(content, places);
  if (at === undefined) return putBack(content, text, "");
  const { form, lines } = splitForm(content);
  return joinForm(lines.slice(0, at) + text + lines.slice(at), form);
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
