import { type ObservedProject, readClaudeMem } from "../../daemon/portable/claude-mem.ts";
import {
  EXPORT_FORMAT,
  type PortableHome,
  type PortableMemory,
} from "../../daemon/portable/format.ts";
import { whyUnfit } from "../../daemon/portable/markdown-folder.ts";
import { count } from "../../shared/count.ts";
import { isDamage } from "../../shared/sqlite/failures.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Environment } from "../place/environment.ts";
import { findMeantProject } from "../place/find-project.ts";
import { withLocal } from "../place/place.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";

/** The project or layer that another tool's notes become memories of. */
export interface NotesPlace {
  readonly layer?: Layer;
  readonly project?: string;
}

/** A note that can't be a memory, or a line that can't be read as a note. */
export interface LeftOutNote {
  readonly name: string;
  /**
   * Why: another note has its name, its name or text is not one that a memory can have, or the line
   * can't be read.
   */
  readonly code:
    | "double-name"
    | "no-file"
    | "unfit-name"
    | "unfit-text"
    | "unfit-line"
    | "unfit-folder";
  /** The same as a sentence, in words that follow the name. */
  readonly reason: string;
}

/** What is imported, and what is not. */
export interface ReadNotes {
  readonly home: PortableHome;
  readonly leftOut: readonly LeftOutNote[];
}

/**
 * Another tool's notes as the memories of one project or layer. What can't be a memory is left out
 * and named: in that tool nobody could take it out.
 */
export async function othersHome(
  env: Environment,
  notes: readonly PortableMemory[],
  { layer, project }: NotesPlace,
): Promise<ReadNotes> {
  const to = layer ?? "project";
  if (to !== "project" && project !== undefined) {
    throw new UsageError(`the layer ${to} belongs to no project`);
  }
  const nothing = { memories: [] };
  const home = { format: EXPORT_FORMAT, projects: [], user: nothing, global: nothing };
  const id =
    to === "project" ? await withLocal(env, (db) => findMeantProject(db, project, env)) : undefined;
  const { memories, leftOut } = fitting(notes);
  if (id === undefined) return { home: { ...home, [to]: { memories } }, leftOut };
  const projects = [{ id, claude_md_content: "", metadata: {}, memories }];
  return { home: { ...home, projects }, leftOut };
}

/** The notes that can be memories, and the others. */
function fitting(notes: readonly PortableMemory[]) {
  const taken = new Map<string, PortableMemory>();
  const leftOut: LeftOutNote[] = [];
  for (const note of notes) {
    const why = taken.has(note.key) ? DOUBLE : whyUnfit(note);
    if (why) leftOut.push({ name: note.key.toWellFormed(), ...why });
    else taken.set(note.key, note);
  }
  return { memories: [...taken.values()], leftOut };
}

const DOUBLE = { code: "double-name", reason: "another note has this name, too" } as const;

/** What claude-mem has of one of its projects. It knows them by their folders' names alone. */
export async function claudeMemNotes(
  file: string,
  { of, layer, project, now }: NotesPlace & { readonly of?: string; readonly now: string },
): Promise<ObservedProject> {
  const read = await readClaudeMem(file, now).catch((thrown: unknown) => {
    if (!isDamage(thrown)) throw thrown;
    throw new CommandFailed(
      `${file} can't be read as claude-mem's database: it is damaged, or another program's; ` +
        "nothing was imported",
    );
  });
  if (!read) throw new CommandFailed(`${file} is a database, and not claude-mem's`);
  const found = of === undefined ? undefined : read.projects.get(of);
  if (found && (layer !== undefined || project !== undefined)) return found;
  const names = [...read.projects].map(([name, { notes }]) => `  ${name}   ${notes.length}`);
  const others = count(read.others, "observation", "observations");
  const unknown = of === undefined || found ? "" : `it has no project ${of}: `;
  throw new CommandFailed(
    `${unknown}say which of its projects is meant, and where its notes go: ` +
      "`--of NAME --project DIR`",
    {
      further: [
        ...names.sort(),
        ...(read.others > 0 ? [`${others} of no project can't be imported`] : []),
      ],
      code: "ambiguous",
    },
  );
}
