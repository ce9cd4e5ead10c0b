import { homedir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import type { Kysely } from "kysely";
import { folderSources } from "../../daemon/assistants/memory-folders/folder-sources.ts";
import { keyOfName } from "../../daemon/assistants/memory-folders/memory-names.ts";
import {
  type ScannedFile,
  type ScannedFolder,
  scanMemoryFolders,
} from "../../daemon/assistants/memory-folders/scan-memory-folders.ts";
import { readPersonalFile, textHash } from "../../daemon/assistants/personal/read-personal-file.ts";
import { parseVersion } from "../../daemon/assistants/personal/version.ts";
import { countedOf } from "../../daemon/disk/followable-files.ts";
import { readFileAt } from "../../daemon/disk/read-file.ts";
import { withoutIgnored } from "../../daemon/files/counted-file.ts";
import { listInstructionFiles } from "../../daemon/files/names/instruction-files.ts";
import { TREE_MADE } from "../../daemon/files/names/tree-guard.ts";
import { whyFileKept } from "../../daemon/files/names/why-ignored.ts";
import { whyUnfollowed } from "../../daemon/files/state/follow-reasons.ts";
import { readFollowed } from "../../daemon/files/state/follow-store.ts";
import { type FileStanding, fileStanding } from "../../daemon/git/git-state.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { memoryReason } from "../../daemon/held/judge.ts";
import { readDeletion } from "../../daemon/home/deleted-project.ts";
import { type FolderKind, folderMode } from "../../daemon/home/folder-switches.ts";
import type { Home } from "../../daemon/home/home.ts";
import { type Link, listLinks } from "../../daemon/home/links.ts";
import { LOCAL_USER } from "../../daemon/home/local-account.ts";
import { listPersonalFiles, type PersonalFile } from "../../daemon/home/personal-files.ts";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import { listTranscripts } from "../../daemon/home/session-records.ts";
import { recordsSessions } from "../../daemon/home/session-switch.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readIgnored, readIgnoredOf } from "../../daemon/ignored/ignore-file.ts";
import { noteFrom, parseReason, type Reason, type ReasonNote } from "../../shared/reasons.ts";
import { tilde } from "../screen/tilde.ts";

type Db = Kysely<DaemonTables>;

/**
 * Something on this machine of which a project is made, and what becomes of it. `note`: why it is
 * not sent.
 */
export interface SourcePreview extends ReasonNote {
  /** The name of the document that it is a part of. */
  readonly document: string;
  readonly source: "instructions" | FolderKind | "sessions" | "personal";
  /** From the project's folder; of folders of memories the key; of the personal text the file. */
  readonly path: string;
  /**
   * `sent`: what was read of it is sent. `new`: it was not read yet, at least as it is now. `off`:
   * nothing of the kind is read.
   */
  readonly state: "sent" | "new" | "ignored" | "held" | "left-alone" | "off";
}

/** Where a home and the assistants' folders are. */
interface Surroundings {
  readonly home: Home;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** The files and sessions of linked projects, and what would leave the machine. Writes nothing. */
export async function previewSources(env: Surroundings, db: Db): Promise<SourcePreview[]> {
  const links = await listLinks(db);
  const files = await Promise.all(links.map((link) => instructionFile(db, link)));
  const sources = [
    ...files.flat(),
    ...(await memoryFolders(env, db)),
    ...(await sessions(env, db)),
    ...(await personalFiles(db)),
  ];
  const told = await Promise.all(sources.map((each) => asOfDeleted(db, each)));
  return told.filter((each, at) => told.findIndex((other) => isSameSource(each, other)) === at);
}

/** Nothing of a deleted project is read, so nothing is about to be sent. */
async function asOfDeleted(db: Db, source: SourcePreview): Promise<SourcePreview> {
  const isRead = source.state === "new" || source.state === "sent";
  const deletion = isRead ? await readDeletion(db, source.document) : undefined;
  if (!deletion) return source;
  const { machine } = deletion;
  const why: Reason = { code: "deleted", ...(machine !== undefined && { machine }) };
  return { ...source, state: "left-alone", ...noteFrom(why) };
}

/** Several folders of a project may have the same to say. */
function isSameSource(one: SourcePreview, other: SourcePreview): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function instructionFile(db: Db, link: Link): Promise<SourcePreview[]> {
  const { dir, projectId: project, file: chosen } = link;
  const known = await readFollowed(db, dir);
  const before = known && { path: known.path, hadText: known.base.text.trim() !== "" };
  const ignored = await readIgnored(db, dir);
  const git = createGit();
  const all = await listInstructionFiles(git, dir);
  const found = withoutIgnored(all, ignored, known?.path);
  const { path, followable } = countedOf(found, { chosen, before });
  if (!followable) return [];
  const is = (state: SourcePreview["state"], why?: Reason): SourcePreview[] => {
    return [{ document: project, source: "instructions", path, state, ...noteFrom(why) }];
  };
  const why = await whyFileKept(ignored, dir, { name: followable.name, path });
  if (why) return is("ignored", why);
  const held = await heldFile(db, dir);
  if (held) return is("held", held);
  if (followable.problem) return is("left-alone", followable.problem);
  const read = await readFileAt(dir, path);
  if (read.kind === "problem") return is("left-alone", read.why);
  if (read.kind === "absent") return [];
  if (known?.path === path && known.hash === read.hash) return is("sent");
  const notNow = whyNotRead(await fileStanding(git, join(dir, path)));
  return notNow ? is("left-alone", notNow) : is("new");
}

/** Why the file is not read as it is now, because of git. */
function whyNotRead(standing: FileStanding): Reason | undefined {
  const by = { standing, tree: TREE_MADE };
  if (standing.kind === "unknown") return whyUnfollowed("leave-unknown", by);
  if (standing.kind === "busy") return whyUnfollowed("leave-busy", by);
  const isElsewhere = standing.kind === "tracked" && !standing.onDefaultBranch;
  return isElsewhere ? whyUnfollowed("leave-branch", by) : undefined;
}

async function heldFile(db: Db, dir: string): Promise<Reason | undefined> {
  const row = await db
    .selectFrom("held")
    .select("reason")
    .where("kind", "=", "file")
    .where("key", "=", dir)
    .executeTakeFirst();
  return row && parseReason(row.reason);
}

async function memoryFolders(env: Surroundings, db: Db): Promise<SourcePreview[]> {
  const git = createGit();
  const sources = folderSources(git, { userFolder: homedir(), variables: env.variables });
  const found: SourcePreview[] = [];
  for (const source of sources) {
    const { kind } = source;
    const isOff = folderMode(env.home, kind) === "off";
    for (const folder of await scanMemoryFolders(db, git, source)) {
      found.push(...folderPreview(folder, { kind, isOff }));
    }
  }
  return found;
}

function folderPreview(
  { owner, format, note, code, files }: ScannedFolder,
  { kind, isOff }: { readonly kind: FolderKind; readonly isOff: boolean },
): SourcePreview[] {
  if (owner === null) return [];
  const document = owner === "user" ? `user/${LOCAL_USER}` : owner;
  const of = { document, source: kind } as const;
  const all = { ...of, path: keyOfName(format, "") };
  if (isOff && files.length > 0) {
    return [{ ...all, state: "off", ...noteFrom({ code: "not-read", by: kind }) }];
  }
  if (note !== null) return [{ ...all, state: "left-alone", note, code }];
  return files.flatMap(({ name, state, note, code }) => {
    const to = STATES[state];
    return to ? [{ ...of, path: keyOfName(format, name), state: to, note, code }] : [];
  });
}

/** Undefined: there is no file. */
const STATES: Readonly<Record<ScannedFile["state"], SourcePreview["state"] | undefined>> = {
  new: "new",
  followed: "sent",
  held: "held",
  ignored: "ignored",
  "left-alone": "left-alone",
  missing: undefined,
  deleted: "left-alone",
};

/** Sessions are listed by the folders in which they began, if these are ignored. */
async function sessions(env: Surroundings, db: Db): Promise<SourcePreview[]> {
  const links = await listLinks(db);
  const cwds = new Set((await listTranscripts(db)).flatMap(({ cwd }) => cwd ?? []));
  const found: SourcePreview[] = [];
  for (const project of new Set(links.map(({ projectId }) => projectId))) {
    const of = { document: project, source: "sessions" } as const;
    if (!recordsSessions(env.home)) {
      found.push({
        ...of,
        path: ALL,
        state: "off",
        ...noteFrom({ code: "not-read", by: "sessions" }),
      });
      continue;
    }
    const ignored = await readIgnoredOf(db, links, project);
    const all = ignored.why(ALL);
    if (all) {
      found.push({ ...of, path: ALL, state: "ignored", ...noteFrom(all) });
      continue;
    }
    const own = links.filter(({ projectId }) => projectId === project);
    const paths = own.flatMap(({ dir }) => [...cwds].flatMap((cwd) => pathBelow(dir, cwd) ?? []));
    for (const path of [...new Set(paths)].sort()) {
      const why = ignored.why(`${path}/`);
      const shown = `sessions of ${path}`;
      if (why) found.push({ ...of, path: shown, state: "ignored", ...noteFrom(why) });
    }
  }
  return found;
}

const ALL = "sessions/";

/** From the folder, with `/` between its names; undefined for the folder and what is not in it. */
function pathBelow(dir: string, path: string): string | undefined {
  if (!path.startsWith(`${dir}${sep}`)) return undefined;
  return relative(dir, path).split(sep).join("/");
}

/** The files whose block has the user's own text, in the order in which they were turned on. */
async function personalFiles(db: Db): Promise<SourcePreview[]> {
  const files = await listPersonalFiles(db);
  return (await Promise.all(files.map((file) => personalFile(db, file)))).flat();
}

/** The preview of one file; none without a block, of which nothing would be sent. */
async function personalFile(db: Db, file: PersonalFile): Promise<SourcePreview[]> {
  const { path, assistant, shown, asked } = file;
  const document = `user/${LOCAL_USER}`;
  const is = (state: SourcePreview["state"], why?: Reason): SourcePreview[] => {
    return [{ document, source: "personal", path: tilde(path), state, ...noteFrom(why) }];
  };
  const why = (await readIgnored(db, dirname(path), "personal")).why(basename(path));
  if (why) return is("ignored", why);
  const read = await readPersonalFile(path);
  if (read.kind === "problem") return is("left-alone", read.why);
  if (read.kind === "absent" || !read.block) return [];
  if (file.held === textHash(read.block.text)) return is("held", { code: "personal-held" });
  if (asked) return is("left-alone", { code: `personal-${asked}`, assistant });
  const known = shown === undefined ? "" : parseVersion(shown).text;
  const { text: value } = read.block;
  if (value === known) return is("sent");
  const secret = await memoryReason(db, { key: PERSONAL_KEY, value }, [known]);
  return secret ? is("held", secret) : is("new");
}
