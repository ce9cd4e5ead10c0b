import type { Kysely } from "kysely";
import type { ProjectId } from "../../../shared/ids.ts";
import { utf8Bytes } from "../../../shared/limits.ts";
import { explain, type Reason } from "../../../shared/reasons.ts";
import { realWorld } from "../../../shared/world-real.ts";
import type { Git } from "../../git/run-git.ts";
import { memoryReason } from "../../held/judge.ts";
import { listLinks } from "../../home/links.ts";
import { readMemoryFiles, readMemoryFolders } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { readIgnoredOf } from "../../ignored/ignore-file.ts";
import type { ClaudeCodePlace } from "../claude-code/memory-folders.ts";
import { MemoryFolderOwners } from "./folder-projects.ts";
import { keyOfName } from "./memory-names.ts";
import { MemoryFolderReader, type MemoryRead } from "./read-memory-folder.ts";

type Db = Kysely<DaemonTables>;

/** A folder of memories as it is, whether or not anything is done with it. */
export interface ScannedFolder {
  readonly path: string;
  /** Null where it can't be said. */
  readonly project: ProjectId | null;
  /** Why it is left alone; null where it is not. */
  readonly note: string | null;
  readonly files: readonly ScannedFile[];
}

/** A file of such a folder. */
export interface ScannedFile {
  readonly name: string;
  /** Null for a file that is not read. */
  readonly bytes: number | null;
  /**
   * `held` and `ignored`: it stays on this machine. `missing` and `deleted`: somebody has to
   * decide.
   */
  readonly state: "new" | "followed" | "held" | "ignored" | "left-alone" | "missing" | "deleted";
  /** Why it is held, ignored or left alone; null where it is none of these. */
  readonly note: string | null;
}

/** The folders in which sessions began, as their transcripts told. */
export async function listSessionFolders(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom("transcripts")
    .select("cwd")
    .distinct()
    .where("cwd", "is not", null)
    .orderBy("cwd")
    .execute();
  return rows.flatMap(({ cwd }) => cwd ?? []);
}

/** The folders that belong to linked projects, or may. Reads them, and writes nothing. */
export async function scanMemoryFolders(
  db: Db,
  git: Git,
  place: ClaudeCodePlace,
): Promise<ScannedFolder[]> {
  const [links, cwds] = [await listLinks(db), await listSessionFolders(db)];
  const places = { links, cwds, kept: await readMemoryFolders(db) };
  const folders: ScannedFolder[] = [];
  for (const { path, owner, isLink, isNew } of await new MemoryFolderOwners(git, place).find(
    places,
  )) {
    const known = await readMemoryFiles(db, path);
    if (owner.kind === "nobody" || (isNew && known.size === 0)) continue;
    const project = owner.kind === "project" ? owner.project : null;
    const read =
      isLink || !project ? undefined : await new MemoryFolderReader(realWorld).read(path, known);
    const why =
      owner.kind === "several"
        ? ({ code: "memory-several", paths: owner.paths } as const)
        : isLink
          ? ({ code: "memory-folder-link" } as const)
          : read?.kind === "problem"
            ? read.why
            : undefined;
    const files: ScannedFile[] = [];
    const found = read?.kind === "files" ? read.files : new Map<string, MemoryRead>();
    const ignored = await readIgnoredOf(db, links, project);
    for (const [name, file] of found) {
      files.push(await scannedFile(db, { name, file, known, why: ignored.why(keyOfName(name)) }));
    }
    for (const [name, { asked }] of known) {
      if (found.has(name) || !asked || ignored.why(keyOfName(name))) continue;
      files.push({ name, bytes: null, state: asked, note: null });
    }
    folders.push({ path, project, note: why ? explain(why) : null, files });
  }
  return folders;
}

async function scannedFile(
  db: Db,
  {
    name,
    file,
    known,
    why: ignored,
  }: {
    readonly name: string;
    readonly file: MemoryRead;
    readonly why: Reason | undefined;
    readonly known: Awaited<ReturnType<typeof readMemoryFiles>>;
  },
): Promise<ScannedFile> {
  if (ignored) return { name, bytes: null, state: "ignored", note: explain(ignored) };
  if (file.kind === "problem") {
    return { name, bytes: null, state: "left-alone", note: explain(file.why) };
  }
  const bytes = utf8Bytes(file.content);
  const former = known.get(name);
  const already = former ? [former.text] : [];
  const why = await memoryReason(db, { key: keyOfName(name), value: file.content }, already);
  if (why) return { name, bytes, state: "held", note: explain(why) };
  return { name, bytes, state: former?.asked ?? (former ? "followed" : "new"), note: null };
}
