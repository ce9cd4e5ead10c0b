import { timestampOf } from "../../shared/timestamps.ts";
import type {
  DeletionConflict,
  LocalConflict,
  MemoryConflict,
  PlacedVersion,
  TextConflict,
} from "../local/local-conflicts.ts";
import type { WrittenValue } from "../local/losing-versions.ts";
import { count, firstLine, shortName } from "../screen/output.ts";
import { visibleLines } from "../screen/visible.ts";
import { valueLine } from "./memory-view.ts";
import { moveAdvice, moveJson, moveLines, moveRow } from "./move-conflict-view.ts";
import { formatShown } from "./text-format-view.ts";
import { indentedText, machineShown, onMachine, timeShown } from "./version-view.ts";

/** The last columns of a conflict's row: what it is about, where, and what lost. */
export function conflictRow(conflict: LocalConflict): string[] {
  if (conflict.kind === "memory") {
    const { key, machine, value } = conflict.losing;
    return [shortName(key), shortName(machineShown(machine)), valueLine(value)];
  }
  if (conflict.kind === "deletion") {
    const { key, machine, winner } = conflict.deletion;
    const stands = `deleted; stands: ${valueLine(winner.value)}`;
    return [shortName(key), shortName(machineShown(machine)), stands];
  }
  if (conflict.kind === "move") return moveRow(conflict);
  const { record } = conflict;
  const gone = conflict.versions.filter((version) => !stands(version) && version.text !== "");
  const versions = gone.length > 0 ? gone : conflict.versions.filter(({ text }) => text !== "");
  const who = record.kind === "deletion" ? conflict.versions : versions;
  // Who took lines away, or out of a file, says more than that their author is unknown.
  const machines = machinesOf(who) || machinesOf(conflict.versions);
  return [
    whatOf(conflict),
    shortName(machines || machineShown(undefined)),
    versions.map((version) => versionInRow(record, version)).join(" | "),
  ];
}

/** Each machine once. A version that several wrote has all of their names already. */
function machinesOf(versions: readonly PlacedVersion[]): string {
  const known = versions.flatMap(({ machine }) => machine?.split(", ") ?? []);
  return [...new Set(known)].join(", ");
}

function versionInRow({ kind }: TextConflict["record"], { text }: PlacedVersion): string {
  if (kind === "format") return formatShown(text);
  return text.trim() === "" ? "(blank lines)" : firstLine(text.trimEnd());
}

function whatOf({ record, versions }: TextConflict): string {
  switch (record.kind) {
    case "deletion":
      return `document, ${count(record.lines ?? 0, "line", "lines")} deleted`;
    case "format":
      return "document, how it is written";
    case "moved":
      return "document, where lines stand";
    case "elsewhere":
      return "document, lacks lines of git";
    case "renewed":
      return "document, a file came";
    case "set-aside":
      return "document, set aside by git";
    case "twice":
      return "document, lines stand twice";
    case "unseen":
      if (versions.some(({ text }) => text === "")) return "document, kept lines";
      return "document, has both";
    case "both":
      return versions.every(stands) ? "document, has both" : "document";
  }
}

/** How to settle it. `place`: the options that say where it is, none where one stands there. */
export function conflictAdvice(conflict: LocalConflict, place: string): string {
  const { id } = conflict;
  if (conflict.kind === "memory") {
    const restore = `\`memsync conflicts restore ${id}${place}\``;
    return `${restore} brings back what lost, \`dismiss\` lets it go`;
  }
  const choose = `\`memsync conflicts choose ${id} 1${place}\``;
  if (conflict.kind === "move") return moveAdvice(conflict, choose);
  if (conflict.kind === "deletion") {
    return `${choose} lets it stay, as \`dismiss\` does; \`2\` deletes it after all`;
  }
  const { record } = conflict;
  const undo = record.kind === "deletion" ? " (2 brings the lines back)" : "";
  // What is in a file alone comes into the document.
  const keeps = record.kind === "set-aside" ? "keeps both there" : "keeps all as it is";
  return (
    `${choose} or \`2\` leaves that version alone in the ` + `document${undo}, \`dismiss\` ${keeps}`
  );
}

/** Both versions, complete. */
export function conflictLines(conflict: LocalConflict): string[] {
  if (conflict.kind === "deletion") return deletionLines(conflict);
  if (conflict.kind === "move") return moveLines(conflict);
  return conflict.kind === "memory" ? memoryLines(conflict) : textLines(conflict);
}

function deletionLines({ document, deletion, others }: DeletionConflict): string[] {
  const { key, machine, deletedAt, winner } = deletion;
  const besides = others.length > 0 ? [`one of this key is in ${others.join(" and ")}, too`] : [];
  return [
    `the memory "${key}" of ${document.title}, deleted and written at once`,
    ...besides,
    "",
    `1  stands, written ${timeShown(winner.writtenAt)}${onMachine(winner.machine)}`,
    ...indentedText(winner.value),
    "",
    `2  deleted ${timeShown(deletedAt)}${onMachine(machine)}`,
  ];
}

function memoryLines({ document, losing }: MemoryConflict): string[] {
  const version = (state: string, { machine, writtenAt, value }: WrittenValue) => [
    "",
    `${state}, written ${timeShown(writtenAt)}${onMachine(machine)}`,
    ...indentedText(value),
  ];
  return [
    `the memory "${losing.key}" of ${document.title}`,
    ...version("the value", losing.winner),
    ...version("lost", losing),
  ];
}

function textLines({ document, foundAt, record, versions }: TextConflict): string[] {
  return [
    `${conflictWords(record)} of ${document.title}, found ${timeShown(foundAt)}`,
    ...versions.flatMap((version, at) => [
      "",
      `${at + 1}  ${headOf(record, version).join(", ")}`,
      ...(SAME_LINES.has(record.kind) ? [placeShown(version)] : []),
      ...(record.kind === "format" ? [`    ${formatShown(version.text)}`] : indentedLines(version)),
      ...(version.cut ? ["    … (the whole is in `memsync doc history`)"] : []),
    ]),
  ];
}

function conflictWords({ kind, versions }: TextConflict["record"]): string {
  const isDeletion = versions.some(({ text, isStanding }) => isStanding && text === "");
  return kind === "set-aside" && isDeletion ? PUT_BACK : CONFLICT_WORDS[kind];
}

const PUT_BACK = "git put these deleted lines back into a file, and they stay out of the document";

const CONFLICT_WORDS = {
  both: "these lines were changed in two ways at once, in the document",
  unseen: "a save undid what others had changed, perhaps unread, in the document",
  moved: "two machines changed where these lines stand, in the document",
  format: "two ways of writing down the document",
  deletion: "these lines were deleted, in the document",
  elsewhere: "lines that git brought, and that are not in the document",
  renewed: "a file came, or was made anew, and differed in these lines, in the document",
  "set-aside": "git took these lines out of a file, and they stay in the document",
  twice: "two machines put these lines at different places, and they stand twice, in the document",
} as const;

/** Conflicts in which both versions have the same lines at different places. */
const SAME_LINES: ReadonlySet<string> = new Set(["moved", "twice"]);

function placeShown({ places: [place] }: PlacedVersion): string {
  const neighbour = place && firstLine(place.behind.trim().split("\n").at(-1) ?? "");
  return neighbour ? `    behind "${neighbour}":` : "    at the beginning:";
}

function headOf({ kind }: TextConflict["record"], version: PlacedVersion): string[] {
  if (kind !== "set-aside") return [standing(version), ...whose(version)];
  const { isStanding, text, machine, at } = version;
  if (isStanding) return [text === "" ? "in the document" : standing(version), ...whose(version)];
  // git has written this version, not the person whose file it is.
  return [
    `in the file${machine === undefined ? "" : ` ${onMachine(machine).trim()}`}`,
    ...(text === "" ? ["without these lines"] : []),
    ...(at === undefined ? [] : [timeShown(at)]),
  ];
}

function standing({ inText, inPart }: PlacedVersion): string {
  if (inPart) return "in part in the document";
  return inText ? "in the document" : "not in the document";
}

function stands({ inText, inPart }: Pick<PlacedVersion, "inText" | "inPart">): boolean {
  return inText || inPart;
}

/** Whose a version is, and since when. Says nothing of what is not known. */
function whose({ text, machine, at, removed }: PlacedVersion): string[] {
  const who = `${onMachine(machine)}${at === undefined ? "" : ` ${timeShown(at)}`}`.trim();
  if (text === "") return ["without these lines", ...(who === "" ? [] : [who])];
  return [...(who === "" ? [] : [`written ${who}`]), ...removedShown(removed)];
}

/** Says who had taken out what the other version brings back. */
function removedShown(removed: PlacedVersion["removed"]): string[] {
  if (!removed) return [];
  const { machine, at } = removed;
  const when = at === undefined ? "" : ` ${timeShown(at)}`;
  return [`lines of the other version deleted${onMachine(machine)}${when}`];
}

function indentedLines({ text }: PlacedVersion): string[] {
  return text === "" ? [] : indentedText(text).map(visibleLines);
}

/** Its form in `--json`. */
export function conflictJson(conflict: LocalConflict) {
  const { id, kind, document } = conflict;
  const project = document.layer === "project" ? document : undefined;
  const place = {
    id,
    kind,
    layer: document.layer,
    project_id: project?.name ?? null,
    project: project?.title ?? null,
  };
  if (conflict.kind === "memory") {
    const { key, winner } = conflict.losing;
    return { ...place, key, ...writtenJson(conflict.losing), winner: writtenJson(winner) };
  }
  if (conflict.kind === "deletion") {
    const { key, machine, deletedAt, winner } = conflict.deletion;
    const deleted = { machine: machine ?? null, deleted_at: timestampOf(deletedAt) };
    return {
      ...place,
      key,
      ...deleted,
      winner: writtenJson(winner),
      also_in: [...conflict.others],
    };
  }
  if (conflict.kind === "move") return { ...place, ...moveJson(conflict) };
  return {
    ...place,
    found_at: timestampOf(conflict.foundAt),
    cause: conflict.record.kind,
    lines: conflict.record.lines ?? null,
    versions: conflict.versions.map(({ text, cut, machine, at, removed, inText }) => ({
      text,
      cut,
      machine: machine ?? null,
      at: at === undefined ? null : timestampOf(at),
      in_document: inText,
      removed: removed
        ? {
            machine: removed.machine ?? null,
            at: removed.at === undefined ? null : timestampOf(removed.at),
          }
        : null,
    })),
  };
}

function writtenJson({ value, machine, writtenAt }: WrittenValue) {
  return { value, machine: machine ?? null, written_at: timestampOf(writtenAt) };
}
