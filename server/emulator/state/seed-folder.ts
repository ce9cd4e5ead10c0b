import { readdir, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AppError } from "../../../shared/errors.ts";
import { parseProjectId } from "../../../shared/ids.ts";
import { keyOfPortableName } from "../../../shared/portable-names.ts";
import { invalid } from "../../../shared/wire/parse.ts";
import type { EmulatorSeed, SeedMemory } from "../interface/state.ts";
import { parseSeed } from "./seed-body.ts";
import { readSeedText, unreadable } from "./seed-text.ts";

const MARKDOWN = ".md";
const DESCRIPTION = "CLAUDE.md";

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * Reads a folder: its folders are projects, but `user` and `global`, which are layers; Markdown at
 * the top is of a project with the folder's own name. Names that begin with a dot are left out.
 * What nothing would read is refused: whoever put it there takes it for a part of the seed.
 */
export async function readSeedFolder(
  folder: string,
  readSeedFile: (path: string) => Promise<EmulatorSeed>,
): Promise<EmulatorSeed> {
  const entries = await listEntries(folder);
  const folders = entries.filter(({ isFolder }) => isFolder);
  const files = entries.filter(({ isFolder, name }) => !isFolder && extname(name) === ".json");
  const notes = entries.filter((each) => !folders.includes(each) && !files.includes(each));
  const seeds: EmulatorSeed[] = [];
  const sources: Sources = new Map();
  if (notes.length > 0) seeds.push(await readNotes(basename(resolve(folder)), notes, sources));
  for (const { name, path } of folders) {
    seeds.push(await readNotes(name, await listEntries(path), sources));
  }
  for (const { path } of files) {
    const seed = await readSeedFile(path);
    for (const [, memories] of memoriesOf(seed)) {
      for (const memory of memories) sources.set(memory, path);
    }
    seeds.push(seed);
  }
  if (seeds.length === 0) throw refused(folder, "has neither Markdown nor JSON in it");
  const whole = joined(seeds);
  refuseKeysTwice(whole, sources);
  return whole;
}

/** The file that each memory is from. */
type Sources = Map<SeedMemory, string>;

function memoriesOf({ projects = [], user, global }: EmulatorSeed): [string, SeedMemory[]][] {
  return [
    ...projects.map(({ id, name, memories = [] }): [string, SeedMemory[]] => {
      return [`of ${id ?? name}`, [...memories]];
    }),
    ["of user", [...(user?.memories ?? [])]],
    ["of global", [...(global?.memories ?? [])]],
  ];
}

/** Two files, each of which is right by itself, may have the same key. */
function refuseKeysTwice(whole: EmulatorSeed, sources: Sources): void {
  for (const [where, memories] of memoriesOf(whole)) {
    const first = new Map<string, SeedMemory>();
    for (const memory of memories) {
      const { key } = memory;
      const other = key === undefined ? undefined : first.get(key);
      if (other) {
        const what = `has the key ${JSON.stringify(key)} ${where}`;
        throw refused(sources.get(memory) ?? "", `${what}, as ${sources.get(other)} does`);
      }
      if (key !== undefined) first.set(key, memory);
    }
  }
}

async function listEntries(folder: string): Promise<Entry[]> {
  const names = await readdir(folder).catch((thrown: unknown) => {
    throw unreadable(folder, thrown);
  });
  const found = names.filter((name) => !name.startsWith(".")).sort();
  return await Promise.all(
    found.map(async (name) => {
      const path = join(folder, name);
      const stats = await stat(path).catch(() => undefined);
      return { name, path, isFolder: stats?.isDirectory() ?? false };
    }),
  );
}

/** What the files of one project, or of one layer, are as a seed. */
async function readNotes(
  name: string,
  entries: readonly Entry[],
  sources: Sources,
): Promise<EmulatorSeed> {
  const isLayer = name === "user" || name === "global";
  const memories: SeedMemory[] = [];
  let description: { readonly claude_md_content?: string } = {};
  for (const { name: file, path, isFolder } of entries) {
    if (isFolder) throw refused(path, "is a folder in a project's, which is not read");
    if (extname(file) !== MARKDOWN) throw refused(path, "is no Markdown");
    const value = await readSeedText(path);
    const memory = { key: keyOfPortableName(basename(file, MARKDOWN)), value };
    sources.set(memory, path);
    const isDescription = file === DESCRIPTION && !isLayer;
    if (isDescription) description = { claude_md_content: value };
    else memories.push(memory);
    const alone = {
      projects: [isDescription ? { name, ...description } : { name, memories: [memory] }],
    };
    refuseWrong(path, alone);
  }
  if (isLayer) return { [name]: { memories } };
  const id = parseProjectId(name) ?? parseProjectId(`proj_${name}`);
  return { projects: [{ ...(id && { id }), name, ...description, memories }] };
}

/** Throws the first problem of a seed as one of this file. */
function refuseWrong(path: string, seed: EmulatorSeed): void {
  try {
    parseSeed(seed);
  } catch (thrown) {
    throw thrown instanceof AppError ? refused(path, thrown.details[0]?.message ?? "") : thrown;
  }
}

function refused(path: string, message: string): AppError {
  return invalid([{ path, message }]);
}

function joined(seeds: readonly EmulatorSeed[]): EmulatorSeed {
  const layer = (name: "user" | "global") => ({
    memories: seeds.flatMap((seed) => seed[name]?.memories ?? []),
  });
  return {
    projects: withoutParts(seeds.flatMap(({ projects = [] }) => projects)),
    user: layer("user"),
    global: layer("global"),
    sessions: seeds.flatMap(({ sessions = [] }) => sessions),
    connections: seeds.flatMap(({ connections = [] }) => connections),
  };
}

type SeedProject = NonNullable<EmulatorSeed["projects"]>[number];

/**
 * A folder and files may each have a part of a project. Where two say something else of it both
 * stay, and are refused as a project that is there twice.
 */
function withoutParts(projects: readonly SeedProject[]): SeedProject[] {
  const whole: SeedProject[] = [];
  for (const project of projects) {
    const at = whole.findIndex(({ id }) => id !== undefined && id === project.id);
    const other = whole[at];
    if (other && !contradicts(other, project)) whole[at] = together(other, project);
    else whole.push(project);
  }
  return whole;
}

function contradicts(one: SeedProject, other: SeedProject): boolean {
  return (["name", "claude_md_content", "metadata"] as const).some((field) => {
    const [first, second] = [one[field], other[field]];
    return first !== undefined && second !== undefined && !isDeepStrictEqual(first, second);
  });
}

function together(one: SeedProject, other: SeedProject): SeedProject {
  const memories = [...(one.memories ?? []), ...(other.memories ?? [])];
  return {
    ...one,
    ...other,
    memories,
    sessions: [...(one.sessions ?? []), ...(other.sessions ?? [])],
  };
}
