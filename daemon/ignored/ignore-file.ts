import { join } from "node:path";
import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { exceedsBytes } from "../../shared/limits.ts";
import type { ReasonOf } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { IGNORE_NAME } from "../disk/followable-files.ts";
import { readFileAt } from "../disk/read-file.ts";
import { findIgnoreText, listFormerIgnoring, putIgnoreText } from "../home/ignore-files.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { isIgnoredBy, parseIgnorePatterns } from "./gitignore.ts";

type Db = Kysely<DaemonTables>;

const BYTES_MAX = 64 * 1024;

/** Assistants keep these for one person on one machine. Nothing makes them leave it. */
const PRIVATE = parseIgnorePatterns(
  ["CLAUDE.local.md", "AGENTS.override.md", ".cursor/rules/imported/"].join("\n"),
);

/** Why something stays on this machine. */
export type WhyIgnored = {
  readonly [Code in "ignored" | "ignored-gone" | "ignore-unreadable"]: ReasonOf<Code>;
}["ignored" | "ignored-gone" | "ignore-unreadable"];

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

/** What a folder's file says now. */
interface IgnoreFile {
  readonly kind: "absent" | "gone" | "read" | "unreadable";
  /** Of `gone`, what it said last. */
  readonly text: string;
}

/**
 * Reads what a linked folder keeps on this machine, now. To be called after what may be ignored was
 * read: whoever names a file before he writes into it is heeded. What a file said that is gone
 * still counts, as of a branch that lacks it, a disk that is away or a `git clean`.
 */
export async function readIgnored(db: Db, dir: string): Promise<Ignored> {
  return ignoredBy(dir, await readIgnoreFile(db, dir));
}

/**
 * What the folders of a project keep on this machine; null: of no project. Names of a folder that
 * was unlinked still count: who unlinks one wants less to leave.
 */
export async function readIgnoredOf(
  db: Db,
  links: readonly Link[],
  project: ProjectId | null,
): Promise<Ignored> {
  const dirs = await dirsOf(db, links, project);
  return ignoredByAny(await Promise.all(dirs.map((dir) => readIgnored(db, dir))));
}

/** The same of one folder, and remembers what its file says. */
export async function takeIgnored(
  store: ReplicaStore<DaemonTables>,
  dir: string,
): Promise<Ignored> {
  const file = await readIgnoreFile(store.reader, dir);
  const { kind, text } = file;
  if (kind === "read" && (await findIgnoreText(store.reader, dir)) !== text) {
    await store.write(({ db }) => putIgnoreText(db, dir, text));
  }
  return ignoredBy(dir, file);
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
  const dirs = await dirsOf(store.reader, links, project);
  return ignoredByAny(await Promise.all(dirs.map((dir) => takeIgnored(store, dir))));
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
  const found: GoneIgnore[] = [];
  for (const dir of await dirsOf(db, links, project)) {
    const { kind, text } = await readIgnoreFile(db, dir);
    const names = namesIn(text);
    if (kind === "gone" && names.length > 0) found.push({ dir, names });
  }
  return found;
}

/** The patterns of such a file, without its comments. */
export function namesIn(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const name = line.trim();
    return name === "" || name.startsWith("#") ? [] : [name];
  });
}

async function dirsOf(db: Db, links: readonly Link[], project: ProjectId | null) {
  const own = links.filter(({ projectId }) => projectId === project).map(({ dir }) => dir);
  return [...new Set([...own, ...(project === null ? [] : await listFormerIgnoring(db, project))])];
}

function ignoredBy(dir: string, { kind, text }: IgnoreFile): Ignored {
  const patterns = parseIgnorePatterns(text);
  const named: WhyIgnored =
    kind === "gone" ? { code: "ignored-gone", file: join(dir, IGNORE_NAME) } : { code: "ignored" };
  return {
    why(path) {
      if (isIgnoredBy(PRIVATE, path)) return { code: "ignored" };
      if (kind === "unreadable") return { code: "ignore-unreadable" };
      return isIgnoredBy(patterns, path) ? named : undefined;
    },
    sign: kind === "absent" ? "" : JSON.stringify([kind, text]),
  };
}

async function readIgnoreFile(db: Db, dir: string): Promise<IgnoreFile> {
  const read = await readFileAt(dir, IGNORE_NAME);
  if (read.kind === "problem") return { kind: "unreadable", text: "" };
  if (read.kind === "text") {
    const { content: text } = read;
    return exceedsBytes(text, BYTES_MAX)
      ? { kind: "unreadable", text: "" }
      : { kind: "read", text };
  }
  const kept = await findIgnoreText(db, dir);
  return kept === undefined ? { kind: "absent", text: "" } : { kind: "gone", text: kept };
}
