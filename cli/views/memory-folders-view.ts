import { sep } from "node:path";
import type { FolderKind } from "../../daemon/home/folder-switches.ts";
import type { MemoryFoldersStatus } from "../../daemon/status/memory-status.ts";
import { count } from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { toned } from "../screen/tones.ts";

/** At most this many files of a folder are named. Of the others only the number is. */
const NAMED_MAX = 3;
const INDENT = "          ";

/** The status lines about folders of one kind; none where they are off. */
export function memoryFolderLines(
  kind: FolderKind,
  { mode, folders }: MemoryFoldersStatus,
  projects: readonly { readonly id: string; readonly name: string }[],
): string[] {
  if (mode === "off") return [];
  return folders.flatMap((folder) => {
    const { path, project_id, layer, moved_to, files, asked, notes, git, note } = folder;
    const name = layer === "user" ? layer : projects.find(({ id }) => id === project_id)?.name;
    const label = toned(note || asked.length > 0 ? "pending" : "good", LABELS[kind]);
    if (note !== null) return [`${label}${tilde(path)}: ${note}`];
    const what = `${count(files, "file", "files")}, ${mode === "read" ? "read" : WRITTEN[kind]}`;
    // A project has several of these.
    const which = kind === "rules" ? ` ${path.split(sep).slice(-2).join("/")}` : "";
    return [
      `${label}${name ?? tilde(path)}${which}   ${what}`,
      ...(moved_to === null ? [] : [INDENT + formerLine(path, moved_to)]),
      ...(git === null ? [] : [`${INDENT}what git tracks of ${tilde(path)} ${git}`]),
      ...notes.slice(0, NAMED_MAX).map((each) => `${INDENT}${each.name} ${each.note}`),
      ...rest(kind, notes.length),
      ...askedLines(kind, asked),
    ];
  });
}

/** As wide as the others' of the screen. */
const LABELS: Readonly<Record<FolderKind, string>> = {
  "auto-memory": "remembers ",
  serena: "serena    ",
  rules: "rules     ",
};

const WRITTEN: Readonly<Record<FolderKind, string>> = {
  "auto-memory": "read and written",
  serena: "read and written",
  rules: "followed",
};

function formerLine(path: string, to: string): string {
  return (
    `the project is at ${tilde(to)} now; its former folder, ${tilde(path)}, is followed as well, ` +
    "and to remove that deletes nothing elsewhere"
  );
}

function rest(kind: FolderKind, notes: number): string[] {
  if (notes <= NAMED_MAX) return [];
  return [`${INDENT}and ${notes - NAMED_MAX} more: \`memsync ${kind}\``];
}

function askedLines(
  kind: FolderKind,
  asked: MemoryFoldersStatus["folders"][number]["asked"],
): string[] {
  const missing = asked.filter((each) => each.asked === "missing");
  const deleted = asked.filter((each) => each.asked === "deleted");
  const says = [
    ...(missing.length > 0 ? [`${count(missing.length, "file", "files")} missing here`] : []),
    ...(deleted.length > 0
      ? [`${count(deleted.length, "file", "files")} whose memory was deleted`]
      : []),
  ];
  if (says.length === 0) return [];
  return [
    `${INDENT}${says.join(", ")}: \`memsync ${kind} restore\` brings them back, \`delete\` deletes`,
  ];
}

/** Folders that are left alone, or not written whole, for who reads that all is synced. */
export function apartFolders(all: readonly MemoryFoldersStatus[]): string[] {
  const folders = all.flatMap((each) => (each.mode === "off" ? [] : each.folders));
  return folders.flatMap(({ path, note, notes }) => {
    if (note !== null) return [`not read: ${tilde(path)}, see \`memsync status\``];
    const left = notes.filter(({ code }) => code === "memory-folder-full");
    if (left.length === 0) return [];
    const what = count(left.length, "memory", "memories");
    return [`not written into ${tilde(path)}: ${what}, see \`memsync status\``];
  });
}
