import { assert, invalidAt } from "../../shared/errors.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { keyOfPortableName, portableNames } from "../../shared/portable-names.ts";
import {
  EXPORT_FORMAT,
  type PortableHome,
  type PortableMemory,
  type PortableProject,
  parsePortableHome,
  problemOfMemory,
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
 * portableHomeOf(filesOf(home), new Date().toISOString()).home; // equal to home
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
    files.set(`${folder}/${name}${ENDING}`, value);
  }
}

function namesOf(memories: readonly PortableMemory[]) {
  return portableNames(
    memories.map(({ key }) => key),
    [DESCRIPTION],
  );
}

/** What a folder says, and what of it is left out. */
interface ReadFolder {
  readonly home: PortableHome;
  readonly leftOut: readonly UnfitFile[];
}

/** A file that can be no memory and no text, or that is not there. */
interface UnfitFile {
  readonly name: string;
  readonly code: "unfit-name" | "unfit-text" | "double-name" | "no-file";
  readonly reason: string;
}

/**
 * What a folder says. A file that is as it was exported has its time and its conflicts again, one
 * that was changed or added is of `now`. A file that fits nowhere takes no other one with it.
 * Throws a 400 where a file's path fits nowhere in a folder that no export wrote: it may be
 * anybody's.
 */
export function portableHomeOf(files: FolderFiles, now: string): ReadFolder {
  const rest = readRest(files.get(REST_FILE));
  const folders = new Map<string, Map<string, string>>();
  const leftOut: UnfitFile[] = [];
  for (const [path, text] of files) {
    if (path === REST_FILE) continue;
    const why = whyNowhere(path);
    if (why !== undefined) {
      if (!files.has(REST_FILE)) throw invalidAt(path, why);
      leftOut.push({ name: path, code: "unfit-name", reason: why });
      continue;
    }
    const [folder = "", name = ""] = path.split("/");
    const texts = folders.get(folder) ?? new Map<string, string>();
    folders.set(folder, texts.set(name.slice(0, -ENDING.length), text));
  }
  const read = (texts: ReadonlyMap<string, string>, known: Known) => {
    const { memories, unfit } = memoriesOf(texts, known.memories, now);
    leftOut.push(...unfit.map((each) => ({ ...each, name: `${known.folder}/${each.name}` })));
    return memories;
  };
  const layer = (name: (typeof LAYERS)[number]) => {
    const texts = folders.get(name) ?? new Map<string, string>();
    folders.delete(name);
    return { memories: read(texts, { folder: name, memories: rest[name].memories }) };
  };
  const [user, global] = [layer("user"), layer("global")];
  const projects = [...folders].map(([folder, texts]) => {
    const id = projectOfFolder(folder);
    const known = rest.projects.find((each) => each.id === id);
    const others = new Map([...texts].filter(([name]) => name !== DESCRIPTION));
    const memories = read(others, { folder, memories: known?.memories ?? [] });
    return projectOf(texts.get(DESCRIPTION) ?? "", known, { id, memories });
  });
  const without = rest.projects.filter((known) => projects.every(({ id }) => id !== known.id));
  for (const { id, memories } of without) read(new Map(), { folder: id, memories });
  const all = [...projects, ...without.filter(isWithoutFiles)].sort((one, other) =>
    one.id < other.id ? -1 : 1,
  );
  const home = parsePortableHome({ format: EXPORT_FORMAT, projects: all, user, global });
  return { home, leftOut };
}

/** What an export says of a folder. */
interface Known {
  readonly folder: string;
  readonly memories: readonly PortableMemory[];
}

/** Undefined for the path of a memory or a text. */
function whyNowhere(path: string): string | undefined {
  const [folder = "", name, ...more] = path.split("/");
  if (name === undefined || more.length > 0 || !name.endsWith(ENDING)) {
    return "is no Markdown of a project or a layer";
  }
  const isLayer = LAYERS.some((layer) => layer === folder);
  return isLayer || findProject(folder) ? undefined : "is in a folder of no project";
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

function findProject(folder: string): ProjectId | undefined {
  const name = keyOfPortableName(folder);
  return parseProjectId(name) ?? parseProjectId(`proj_${name}`);
}

function projectOfFolder(folder: string): ProjectId {
  const id = findProject(folder);
  assert(id, "a folder that is no project's was left out");
  return id;
}

function projectOf(
  text: string,
  known: PortableProject | undefined,
  { id, memories }: Pick<PortableProject, "id" | "memories">,
): PortableProject {
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
): { readonly memories: PortableMemory[]; readonly unfit: UnfitFile[] } {
  const names = namesOf(known);
  const keys = new Map([...names].map(([key, name]) => [name, key]));
  const byKey = new Map(known.map((each) => [each.key, each]));
  const found = new Map<string, PortableMemory>();
  const unfit: UnfitFile[] = [];
  // A name that the export has given comes before one that somebody else has.
  const named = [...texts].sort(
    ([one], [other]) => Number(keys.has(other)) - Number(keys.has(one)),
  );
  for (const [name, value] of named) {
    const key = keys.get(name) ?? keyOfPortableName(name);
    const before = byKey.get(key);
    const memory = before?.value === value ? before : { key, value, updated_at: now };
    const why = found.has(key) ? DOUBLE : whyUnfit(memory);
    if (why) unfit.push({ name: `${name}${ENDING}`, ...why });
    else found.set(key, memory);
  }
  for (const [key, name] of names) {
    // The first exports wrote no file for a key that is too long for a name.
    const isMissed = keyOfPortableName(name) !== key && !found.has(key) && !texts.has(name);
    if (isMissed) unfit.push({ name: `${name}${ENDING}`, ...NO_FILE });
  }
  const memories = [...found.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  return { memories, unfit };
}

const NO_FILE = {
  code: "no-file",
  reason: `was deleted, or never written, as its key is long: it is in ${REST_FILE} alone`,
} as const;

const DOUBLE = { code: "double-name", reason: "another note has this name, too" } as const;

/** Why a note can be no memory; undefined where it can. */
export function whyUnfit(note: PortableMemory): Omit<UnfitFile, "name"> | undefined {
  const problem = problemOfMemory(note);
  if (!problem) return undefined;
  const reason = `its ${problem.path.slice(1)} ${problem.message}`;
  return { code: problem.path === "/key" ? "unfit-name" : "unfit-text", reason };
}

function isWithoutFiles({ claude_md_content: text, memories }: PortableProject): boolean {
  return text === "" && memories.length === 0;
}
