import { invalidAt } from "../../shared/errors.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { keyOfPortableName, portableNames } from "../../shared/portable-names.ts";
import {
  EXPORT_FORMAT,
  type PortableHome,
  type PortableMemory,
  type PortableProject,
  parsePortableHome,
} from "./format.ts";

/** Texts by their paths from the folder, with `/` between names. */
export type FolderFiles = ReadonlyMap<string, string>;

/** Has what Markdown can't say: times, conflicts, metadata, names. */
export const REST_FILE = ".memsync.json";

const DESCRIPTION = "CLAUDE";
const ENDING = ".md";
const LAYERS = ["user", "global"] as const;

/**
 * An export as a folder: a folder for each project and layer, in it a file for each memory, and the
 * project's text in `CLAUDE.md`. It is the folder that an emulator takes as its seed.
 *
 * ```
 * portableHomeOf(filesOf(home), new Date().toISOString()); // equal to home
 * ```
 */
export function filesOf(home: PortableHome): FolderFiles {
  const files = new Map<string, string>();
  const folders = portableNames(home.projects.map(({ id }) => id));
  for (const { id, claude_md_content: text, memories } of home.projects) {
    const folder = folders.get(id) ?? id;
    if (text !== "") files.set(`${folder}/${DESCRIPTION}${ENDING}`, text);
    putMemories(files, folder, memories);
  }
  for (const layer of LAYERS) putMemories(files, layer, home[layer].memories);
  files.set(REST_FILE, `${JSON.stringify(home, null, 2)}\n`);
  return files;
}

function putMemories(
  files: Map<string, string>,
  folder: string,
  memories: readonly PortableMemory[],
): void {
  const names = namesOf(memories);
  for (const { key, value } of memories) {
    const name = names.get(key);
    if (name !== undefined) files.set(`${folder}/${name}${ENDING}`, value);
  }
}

function namesOf(memories: readonly PortableMemory[]) {
  return portableNames(
    memories.map(({ key }) => key),
    [DESCRIPTION],
  );
}

/**
 * What a folder says. A file that is as it was exported has its time and its conflicts again, one
 * that was changed or added is of `now`. Throws a 400 for what nobody would read.
 */
export function portableHomeOf(files: FolderFiles, now: string): PortableHome {
  const rest = readRest(files.get(REST_FILE));
  const folders = new Map<string, Map<string, string>>();
  for (const [path, text] of files) {
    if (path === REST_FILE) continue;
    const [folder = "", name, ...more] = path.split("/");
    if (name === undefined || more.length > 0 || !name.endsWith(ENDING)) {
      throw invalidAt(path, "is no Markdown of a project or a layer");
    }
    const texts = folders.get(folder) ?? new Map<string, string>();
    folders.set(folder, texts.set(name.slice(0, -ENDING.length), text));
  }
  const layer = (name: (typeof LAYERS)[number]) => {
    const texts = folders.get(name) ?? new Map<string, string>();
    folders.delete(name);
    return { memories: memoriesOf(texts, rest[name].memories, now) };
  };
  const [user, global] = [layer("user"), layer("global")];
  const projects = [...folders].map(([folder, texts]) => {
    const id = projectOfFolder(folder);
    return projectOf(
      texts,
      rest.projects.find((each) => each.id === id),
      { id, now },
    );
  });
  const without = rest.projects.filter((known) => {
    return projects.every(({ id }) => id !== known.id) && isWithoutFiles(known);
  });
  const all = [...projects, ...without].sort((one, other) => (one.id < other.id ? -1 : 1));
  return parsePortableHome({ format: EXPORT_FORMAT, projects: all, user, global });
}

function readRest(text: string | undefined): PortableHome {
  if (text !== undefined) {
    try {
      return parsePortableHome(JSON.parse(text));
    } catch {
      throw invalidAt(
        REST_FILE,
        "is not as it was exported: without it times and metadata are new",
      );
    }
  }
  const nothing = { memories: [] };
  return { format: EXPORT_FORMAT, projects: [], user: nothing, global: nothing };
}

function projectOfFolder(folder: string): ProjectId {
  const name = keyOfPortableName(folder);
  const id = parseProjectId(name) ?? parseProjectId(`proj_${name}`);
  if (id !== undefined) return id;
  throw invalidAt(folder, "is the name of no project");
}

function projectOf(
  texts: ReadonlyMap<string, string>,
  known: PortableProject | undefined,
  { id, now }: { readonly id: ProjectId; readonly now: string },
): PortableProject {
  const text = texts.get(DESCRIPTION) ?? "";
  const others = new Map([...texts].filter(([name]) => name !== DESCRIPTION));
  const memories = memoriesOf(others, known?.memories ?? [], now);
  const before = known ?? { id, metadata: {} };
  const project: PortableProject = { ...before, claude_md_content: text, memories };
  if (known === undefined || known.claude_md_content === text) return project;
  const { text_conflicts: _, ...changed } = project;
  return changed;
}

function memoriesOf(
  texts: ReadonlyMap<string, string>,
  known: readonly PortableMemory[],
  now: string,
): PortableMemory[] {
  const found = [...texts].map(([name, value]): PortableMemory => {
    const key = keyOfPortableName(name);
    const before = known.find((each) => each.key === key);
    return before?.value === value ? before : { key, value, updated_at: now };
  });
  return [...found, ...nameless(known)].sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** Memories that no file can have the name of. */
function nameless(memories: readonly PortableMemory[]): PortableMemory[] {
  const names = namesOf(memories);
  return memories.filter(({ key }) => names.get(key) === undefined);
}

function isWithoutFiles({ claude_md_content: text, memories }: PortableProject): boolean {
  return text === "" && nameless(memories).length === memories.length;
}
