import { join } from "node:path";
import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { exceedsBytes } from "../../shared/limits.ts";
import type { ReasonOf } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { IGNORE_NAME } from "../disk/followable-files.ts";
import { readFileAt } from "../disk/read-file.ts";
import {
  ANY_FOLDER,
  dropFormerIgnored,
  type FormerIgnored,
  findIgnoreText,
  LOST_IGNORED,
  listFormerIgnored,
  putIgnoreText,
} from "../home/ignore-files.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { isIgnoredBy, parseIgnorePatterns, patternsIn } from "./gitignore.ts";

type Db = Kysely<DaemonTables>;

const BYTES_MAX = 64 * 1024;

/** Assistants keep these for one person on one machine. Nothing makes them leave it. */
const PRIVATE = parseIgnorePatterns(
  ["CLAUDE.local.md", "AGENTS.override.md", ".cursor/rules/imported/"].join("\n"),
);

/** Why something stays on this machine. */
export type WhyIgnored =
  | ReasonOf<"ignored">
  | ReasonOf<"ignored-gone">
  | ReasonOf<"ignored-lost">
  | ReasonOf<"ignore-unreadable">;

/** What one or several linked folders keep on this machine. */
export interface Ignored {
  /**
   * Why a path, from the folder and with `/` between its names, stays on this machine. Undefined:
   * it may leave. A folder's path ends in a slash.
   */
  why(path: string): WhyIgnored | undefined;
  /** Equal as long as the answers are; empty where nothing was ever named. */
  readonly sign: string;
}

/** Whose a folder is: a linked one, or one of a person's own, with a personal text or memories. */
export type IgnoringFolder = "linked" | "personal" | "memories";

/** What a folder's file says now. */
interface IgnoreFile {
  readonly dir: string;
  readonly of?: IgnoringFolder;
  readonly kind: "absent" | "gone" | "read" | "unreadable";
  /** Of `gone`, what it said last. */
  readonly text: string;
}

/**
 * Reads what a folder keeps on this machine, now. To be called after what may be ignored was
 * read: whoever names a file before he writes into it is heeded. What a file said that is gone
 * still counts, as of a branch that lacks it, a disk that is away or a `git clean`.
 */
export async function readIgnored(
  db: Db,
  dir: string,
  of: IgnoringFolder = "linked",
): Promise<Ignored> {
  return ignoredBy(await readIgnoreFile(db, dir, of));
}

/**
 * What the folders of a project keep on this machine; null: of no project. Names of a folder that
 * the project has no more still count: who unlinks one, links it to another project or deletes it
 * has not said that more is to leave.
 */
export async function readIgnoredOf(
  db: Db,
  links: readonly Link[],
  project: ProjectId | null,
): Promise<Ignored> {
  const own = dirsOf(links, project).map((dir) => readIgnored(db, dir));
  const { standing } = await readFormer(db, links, project);
  return ignoredByAny([...(await Promise.all(own)), ...standing.map(ignoredBefore)]);
}

/** The same of one folder, and remembers what its file says. */
export async function takeIgnored(
  store: ReplicaStore<DaemonTables>,
  dir: string,
  of: IgnoringFolder = "linked",
): Promise<Ignored> {
  const file = await readIgnoreFile(store.reader, dir, of);
  const { kind, text } = file;
  if (kind === "read" && (await findIgnoreText(store.reader, dir)) !== text) {
    await store.write(({ db }) => putIgnoreText(db, dir, text));
  }
  return ignoredBy(file);
}

/** What any of some folders of a project names. */
function ignoredByAny(folders: readonly Ignored[]): Ignored {
  return {
    why(path) {
      for (const folder of folders) {
        const why = folder.why(path);
        if (why) return why;
      }
      return isIgnoredBy(PRIVATE, path) ? { code: "ignored" } : undefined;
    },
    sign: folders.map(({ sign }) => sign).join(""),
  };
}

/** What the folders of a project keep on this machine, as of now, and remembers what says so. */
export async function takeIgnoredOf(
  store: ReplicaStore<DaemonTables>,
  links: readonly Link[],
  project: ProjectId,
): Promise<Ignored> {
  const own = dirsOf(links, project).map((dir) => takeIgnored(store, dir));
  const { standing, ended } = await readFormer(store.reader, links, project);
  if (ended.length > 0) {
    await store.write(async ({ db }) => {
      for (const each of ended) await dropFormerIgnored(db, project, each);
    });
  }
  return ignoredByAny([...(await Promise.all(own)), ...standing.map(ignoredBefore)]);
}

/** A file that is gone, and what it named when it was there. */
export interface GoneIgnore {
  readonly dir: string;
  readonly names: readonly string[];
}

/** Of a project: the files that are gone and still keep something on this machine. */
export async function listGoneIgnores(
  db: Db,
  links: readonly Link[],
  project: ProjectId,
): Promise<GoneIgnore[]> {
  const own = await Promise.all(dirsOf(links, project).map((dir) => readIgnoreFile(db, dir)));
  const { standing } = await readFormer(db, links, project);
  const gone = [
    ...own.filter(({ kind }) => kind === "gone"),
    ...standing.filter(({ isThere }) => !isThere),
  ];
  const byDir = [...Map.groupBy(gone, ({ dir }) => dir)];
  return byDir.flatMap(([dir, files]) => {
    const names = [...new Set(files.flatMap(({ text }) => patternsIn(text)))];
    return names.length === 0 ? [] : [{ dir, names }];
  });
}

function dirsOf(links: readonly Link[], project: ProjectId | null): string[] {
  return links.filter(({ projectId }) => projectId === project).map(({ dir }) => dir);
}

/** `isThere`: the file is still there as it was. */
interface StandingIgnored extends FormerIgnored {
  readonly isThere: boolean;
}

/**
 * What counts still of what a project's former folders named. An ignore file at the same path that
 * names nothing ends it. What a folder of the project says there itself is no former one's.
 */
async function readFormer(db: Db, links: readonly Link[], project: ProjectId | null) {
  const standing: StandingIgnored[] = [];
  const ended: FormerIgnored[] = [];
  const own = new Set(dirsOf(links, project));
  for (const former of project === null ? [] : await listFormerIgnored(db, project)) {
    const { kind, text } = await readIgnoreFile(db, former.dir);
    const isThere = kind === "read" && text === former.text;
    const isSaidThere = own.has(former.dir) && isThere;
    if (isSaidThere || (kind === "read" && patternsIn(text).length === 0)) ended.push(former);
    else standing.push({ ...former, isThere });
  }
  return { standing, ended };
}

function ignoredBefore({ dir, text, isThere }: StandingIgnored): Ignored {
  return ignoredBy({ dir, kind: isThere ? "read" : "gone", text });
}

function ignoredBy({ dir, of = "linked", kind, text }: IgnoreFile): Ignored {
  const patterns = parseIgnorePatterns(text, dir);
  const code = text === LOST_IGNORED ? "ignored-lost" : "ignored-gone";
  const gone = { code, file: join(dir, IGNORE_NAME), isLinked: of === "linked" } as const;
  const named: WhyIgnored = kind === "gone" ? gone : { code: "ignored" };
  return {
    why(path) {
      if (isIgnoredBy(PRIVATE, path)) return { code: "ignored" };
      if (kind === "unreadable") return { code: "ignore-unreadable" };
      return isIgnoredBy(patterns, path) ? named : undefined;
    },
    sign: kind === "absent" ? "" : JSON.stringify([kind, text]),
  };
}

async function readIgnoreFile(
  db: Db,
  dir: string,
  of: IgnoringFolder = "linked",
): Promise<IgnoreFile> {
  const read = await readFileAt(dir, IGNORE_NAME);
  if (read.kind === "problem") return { dir, kind: "unreadable", text: "" };
  if (read.kind === "text") {
    const { content: text } = read;
    return exceedsBytes(text, BYTES_MAX)
      ? { dir, kind: "unreadable", text: "" }
      : { dir, kind: "read", text };
  }
  // A personal text is turned on by name; of memories in a folder nobody has said anything.
  const kept =
    (await findIgnoreText(db, dir)) ??
    (of === "memories" ? await findIgnoreText(db, ANY_FOLDER) : undefined);
  return kept === undefined
    ? { dir, kind: "absent", text: "" }
    : { dir, of, kind: "gone", text: kept };
}
