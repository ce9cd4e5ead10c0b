import type { Kysely } from "kysely";
import { utf8Bytes } from "../../../shared/limits.ts";
import { noteFrom, type Reason, type ReasonNote } from "../../../shared/reasons.ts";
import { realWorld } from "../../../shared/world-real.ts";
import type { Git } from "../../git/run-git.ts";
import { entryReason } from "../../held/judge.ts";
import { standingTexts } from "../../held/standing-texts.ts";
import { listLinks } from "../../home/links.ts";
import { LOCAL_USER } from "../../home/local-account.ts";
import { type MemoryOwner, readMemoryFiles, readMemoryFolders } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { type FolderSource, type OwnedFolder, whySeveral } from "../folders/owned-folder.ts";
import { leftByGit } from "./folder-in-git.ts";
import { readIgnoredIn } from "./ignored-in-folder.ts";
import { clashesAmong, keyOfName } from "./memory-names.ts";
import { MemoryFolderReader, type MemoryRead } from "./read-memory-folder.ts";

type Db = Kysely<DaemonTables>;

/**
 * A folder of memories as it is, whether or not anything is done with it. `note`: why it is left
 * alone.
 */
export interface ScannedFolder extends ReasonNote {
  readonly path: string;
  readonly format: FolderFormat;
  /** Null where it can't be said. */
  readonly owner: MemoryOwner | null;
  readonly files: readonly ScannedFile[];
}

/**
 * A file of such a folder. `note`: why it is held, ignored or left alone, or whose name it has
 * elsewhere.
 */
export interface ScannedFile extends ReasonNote {
  readonly name: string;
  /** Null for a file that is not read. */
  readonly bytes: number | null;
  /**
   * `held` and `ignored`: it stays on this machine. `missing` and `deleted`: somebody has to
   * decide.
   */
  readonly state: "new" | "followed" | "held" | "ignored" | "left-alone" | "missing" | "deleted";
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

/** The folders of linked projects and of the person. Reads them, and writes nothing. */
export async function scanMemoryFolders(
  db: Db,
  git: Git,
  source: FolderSource,
): Promise<ScannedFolder[]> {
  const [links, cwds] = [await listLinks(db), await listSessionFolders(db)];
  const found = await source.find({ links, cwds, kept: await readMemoryFolders(db) });
  const scanned: ScannedFolder[] = [];
  for (const folder of found) {
    const known = await readMemoryFiles(db, folder.path);
    if (folder.owner.kind === "nobody" || (folder.isNew && known.size === 0)) continue;
    scanned.push(await scannedFolder(db, git, { ...folder, known, links }));
  }
  return scanned;
}

interface KnownFolder extends OwnedFolder {
  readonly known: Awaited<ReturnType<typeof readMemoryFiles>>;
  readonly links: Awaited<ReturnType<typeof listLinks>>;
}

async function scannedFolder(db: Db, git: Git, folder: KnownFolder): Promise<ScannedFolder> {
  const { path, format, isLink, known, links, link } = folder;
  const owner = ownerOf(folder);
  const read =
    isLink || !owner ? undefined : await new MemoryFolderReader(realWorld).read(folder, known);
  const why = whyLeft(folder) ?? (read?.kind === "problem" ? read.why : undefined);
  const files: ScannedFile[] = [];
  const found = read?.kind === "files" ? read.files : new Map<string, MemoryRead>();
  const ignored = await readIgnoredIn(db, links, { path, format, link, owner });
  const left = link && found.size > 0 ? await leftByGit(git, path) : () => undefined;
  for (const [name, file] of found) {
    const whyIgnored = ignored.why(name);
    const seen: MemoryRead = whyProblem(left(name)) ?? file;
    files.push(await scannedFile(db, { format, owner, name, file: seen, known, why: whyIgnored }));
  }
  for (const [name, { asked }] of known) {
    if (found.has(name) || !asked || ignored.why(name)) continue;
    files.push({ name, bytes: null, state: asked, ...noteFrom(undefined) });
  }
  return { path, format, owner, ...noteFrom(why), files: withClashes(files) };
}

/** Files that are read say so as well where some system takes their names for the same. */
function withClashes(files: readonly ScannedFile[]): ScannedFile[] {
  const read = files.flatMap(({ name, bytes }) => (bytes === null ? [] : [name]));
  const clashes = clashesAmong(read);
  return files.map((file) => {
    const other = clashes.get(file.name);
    if (other === undefined || file.note !== null) return file;
    return { ...file, ...noteFrom({ code: "memory-clash", other }) };
  });
}

function ownerOf({ owner }: OwnedFolder): MemoryOwner | null {
  if (owner.kind === "project") return owner.project;
  return owner.kind === "user" ? owner.kind : null;
}

function whyLeft({ owner, isLink }: OwnedFolder): Reason | undefined {
  if (owner.kind === "several") return whySeveral(owner);
  return isLink ? { code: "memory-folder-link" } : undefined;
}

function whyProblem(why: Reason | undefined): MemoryRead | undefined {
  return why && { kind: "problem", why };
}

async function scannedFile(
  db: Db,
  {
    format,
    owner,
    name,
    file,
    known,
    why: ignored,
  }: {
    readonly format: FolderFormat;
    readonly owner: MemoryOwner | null;
    readonly name: string;
    readonly file: MemoryRead;
    readonly why: Reason | undefined;
    readonly known: Awaited<ReturnType<typeof readMemoryFiles>>;
  },
): Promise<ScannedFile> {
  if (ignored) return { name, bytes: null, state: "ignored", ...noteFrom(ignored) };
  if (file.kind === "problem") {
    return { name, bytes: null, state: "left-alone", ...noteFrom(file.why) };
  }
  const bytes = utf8Bytes(file.content);
  const former = known.get(name);
  const already = former ? [former.text] : [];
  const value = file.content;
  // What is nobody's goes nowhere yet.
  const document = owner === null || owner === "user" ? `user/${LOCAL_USER}` : owner;
  const memory = { key: keyOfName(format, name), value };
  const others = () => standingTexts(db, document);
  const why = await entryReason(db, memory, { document, already, others });
  const state = why ? "held" : (former?.asked ?? (former ? "followed" : "new"));
  return { name, bytes, state, ...noteFrom(why) };
}
