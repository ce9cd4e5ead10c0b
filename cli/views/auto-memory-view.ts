import type { AutoMemoryStatus } from "../../daemon/status/memory-status.ts";
import { count } from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { toned } from "../screen/tones.ts";

/** So many files of a folder are named; of more, only how many there are. */
const NAMED_MAX = 3;

/** The status lines about auto memory; none where it is off. */
export function autoMemoryLines(
  { mode, folders }: AutoMemoryStatus,
  projects: readonly { readonly id: string; readonly name: string }[],
): string[] {
  if (mode === "off") return [];
  return folders.flatMap(({ path, project_id, files, asked, notes, note }) => {
    const name = projects.find(({ id }) => id === project_id)?.name;
    const label = toned(note || asked.length > 0 ? "pending" : "good", "remembers");
    if (note !== null) return [`${label} ${tilde(path)}: ${note}`];
    const what = `${count(files, "file", "files")}, ${MODES[mode]}`;
    return [
      `${label} ${name ?? tilde(path)}   ${what}`,
      ...notes.slice(0, NAMED_MAX).map((each) => `          ${each.name} ${each.note}`),
      ...rest(notes.length),
      ...askedLines(asked),
    ];
  });
}

const MODES = { read: "read", write: "read and written" } as const;

function rest(notes: number): string[] {
  if (notes <= NAMED_MAX) return [];
  return [`          and ${notes - NAMED_MAX} more: \`memsync auto-memory\``];
}

function askedLines(asked: AutoMemoryStatus["folders"][number]["asked"]): string[] {
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
    `          ${says.join(", ")}: \`memsync auto-memory restore\` brings them back, \`delete\` deletes`,
  ];
}
