import type { PlacedLines } from "../../shared/replica/text-conflict-record.ts";
import { joinForm, splitForm } from "../../shared/replica/text-form.ts";
import { CommandFailed } from "./errors.ts";
import type { PlacedVersion, TextConflict } from "./local-conflicts.ts";
import { putBack, takeOut } from "./put-back.ts";
import { parseFormat } from "./text-format-view.ts";

/**
 * The text in which one version of a conflict stands and the other does not. `chosen` is 0 or 1.
 * Throws where what is to come back was too long to be kept in the conflict.
 */
export function contentWith(conflict: TextConflict, chosen: number): string {
  const { record, versions, content } = conflict;
  const [wanted, other] = [versions[chosen], versions[1 - chosen]];
  if (!wanted || !other) throw new CommandFailed("a conflict has two versions: choose 1 or 2");
  if (record.kind === "format") {
    return joinForm(splitForm(content).lines, parseFormat(wanted.text));
  }
  if (record.kind === "moved") {
    return wanted.inText ? content : placed(takeOut(content, wanted.text), record.places);
  }
  if (other.inText && other.cut) throw tooLong();
  const rest = other.inText ? takeOut(content, other.text) : content;
  return wanted.inText ? rest : withVersion(rest, wanted, other, record.places);
}

function tooLong(): CommandFailed {
  return new CommandFailed(
    "a version is too long to be kept here whole: `memsync doc history` has the texts that held " +
      "it, and `memsync doc restore REV` brings one back",
  );
}

function withVersion(
  content: string,
  wanted: PlacedVersion,
  other: PlacedVersion,
  places: readonly PlacedLines[],
): string {
  if (wanted.text === "") return content;
  if (wanted.cut) throw tooLong();
  return places.length > 0 ? placed(content, places) : putBack(content, wanted.text, other.text);
}

function placed(content: string, places: readonly PlacedLines[]): string {
  return places.reduce((text, place) => {
    return place.behind === ""
      ? atBeginning(text, place.text)
      : putBack(text, place.text, place.behind);
  }, content);
}

function atBeginning(content: string, lines: string): string {
  const { form, lines: text } = splitForm(content);
  return joinForm(lines + text, form);
}
