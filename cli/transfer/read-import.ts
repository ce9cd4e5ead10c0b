import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { isMissing } from "../../daemon/disk/read-file.ts";
import { isDatabase, type ObservedProject } from "../../daemon/portable/claude-mem.ts";
import { type PortableHome, parsePortableHome } from "../../daemon/portable/format.ts";
import { portableHomeOf } from "../../daemon/portable/markdown-folder.ts";
import { type KnowledgeGraph, readKnowledgeGraph } from "../../daemon/portable/others-notes.ts";
import { AppError } from "../../shared/errors.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { resolveFolder } from "../place/resolve-folder.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { readStdinText } from "../screen/stdin.ts";
import { isFolderAt, readFolder, readNotes } from "./folders.ts";
import { claudeMemNotes, type NotesPlace, othersHome, type ReadNotes } from "./others-home.ts";

/** The name that stands for standard input, and for standard output. */
export const STANDARD_STREAM = "-";

/** At most this many errors of a document are named. */
const PLACES_MAX = 20;

/** Where another tool's notes go, and of which of its projects they are. */
export interface ImportSource extends NotesPlace {
  readonly of?: string;
}

const OTHERS = "another tool's notes need the place where they go: --project DIR or --layer user";

/**
 * What an import is about: an export, as a document or a folder, or another tool's notes. Throws
 * where it is none of them, with what is wrong and where.
 */
export async function readImport(
  env: Environment,
  named: string,
  place: ImportSource,
): Promise<ReadNotes> {
  const now = timestampOf(realWorld.now());
  const isForOthers = place.layer !== undefined || place.project !== undefined;
  const folder = named === STANDARD_STREAM ? undefined : resolveFolder(env, named);
  if (folder !== undefined && (await isFolderAt(folder))) {
    if (isForOthers) return await folderHome(env, folder, place);
    const { files, unread } = await readFolder(folder);
    const { home, leftOut } = readOrRefuse(named, () => portableHomeOf(files, now), OTHERS);
    return { home, leftOut: [...unread, ...leftOut] };
  }
  if (folder !== undefined && (await isDatabase(folder))) {
    return await observedHome(env, await claudeMemNotes(folder, { ...place, now }), place);
  }
  if (place.of !== undefined) {
    throw new UsageError(`--of is for claude-mem's database, and ${named} is no SQLite database`);
  }
  const text = await readDocument(env, named, isForOthers);
  const graph = readKnowledgeGraph(text, now);
  if (graph.notes.length > 0) {
    if (isForOthers) return await graphHome(env, graph, place);
    throw new UsageError(
      "it is the memory of another tool: say where it goes, by --project DIR or --layer user",
    );
  }
  if (isForOthers && isExport(text)) {
    throw new UsageError("--layer and --project are for the notes of another tool");
  }
  if (!isForOthers) return whole(readHome(named, text));
  const [first] = graph.bad;
  const why = first ? `line ${first.number} ${first.reason}` : "it has no entity";
  const from = named === STANDARD_STREAM ? "" : ` < ${shellWord(named)}`;
  throw new CommandFailed(
    `${shownName(named)} has no notes of another tool: they are a folder of Markdown, ` +
      `claude-mem's database or the memory of MCP's reference server (${why}). Nothing was ` +
      `imported; \`memsync set KEY -${from}\` saves one text as a memory`,
  );
}

/** A line that can't be read is left out by itself. */
async function graphHome(
  env: Environment,
  { notes, bad }: KnowledgeGraph,
  place: NotesPlace,
): Promise<ReadNotes> {
  const { home, leftOut } = await othersHome(env, notes, place);
  const lines = bad.map(({ number, reason }) => {
    return { name: `line ${number}`, code: "unfit-line", reason } as const;
  });
  return { home, leftOut: [...lines, ...leftOut] };
}

/** What can't be read of an observation is left out by itself. */
async function observedHome(
  env: Environment,
  { notes, bad }: ObservedProject,
  place: NotesPlace,
): Promise<ReadNotes> {
  const { home, leftOut } = await othersHome(env, notes, place);
  const unread = bad.map(({ key, code, reason }) => ({ name: key.toWellFormed(), code, reason }));
  return { home, leftOut: [...unread, ...leftOut] };
}

/** Somebody else's folder of Markdown. */
async function folderHome(env: Environment, folder: string, place: NotesPlace): Promise<ReadNotes> {
  const { notes, unread } = await readNotes(folder);
  const { home, leftOut } = await othersHome(env, notes, place);
  return { home, leftOut: [...unread, ...leftOut] };
}

/** An export is taken whole or not at all. */
function whole(home: PortableHome): ReadNotes {
  return { home, leftOut: [] };
}

/** `isByLine`: a line that is no text is read as one that says nothing. */
async function readDocument(env: Environment, named: string, isByLine: boolean): Promise<string> {
  if (named === STANDARD_STREAM) return await readStdinText("nothing was imported");
  const file = resolveFolder(env, named);
  try {
    const bytes = await readFile(file);
    return isByLine && !isUtf8(bytes)
      ? readableLines(bytes)
      : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    const code = isMissing(thrown) ? "not-found" : "failed";
    throw new CommandFailed(`${file} can't be read: ${fileFailure(thrown)}`, { code });
  }
}

function readableLines(bytes: Buffer): string {
  const lines = bytes.toString("latin1").split("\n");
  const read = lines.map((line) => {
    const own = Buffer.from(line, "latin1");
    return isUtf8(own) ? own.toString() : NO_TEXT;
  });
  return read.join("\n");
}

const NO_TEXT = "no UTF-8";

function isExport(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "format" in value;
  } catch {
    return false;
  }
}

function readHome(named: string, text: string): PortableHome {
  return readOrRefuse(named, () => parsePortableHome(JSON.parse(text)));
}

function shownName(named: string): string {
  return named === STANDARD_STREAM ? "standard input" : named;
}

/** `advice`: said below what is wrong. */
function readOrRefuse<Read>(named: string, read: () => Read, advice?: string): Read {
  try {
    return read();
  } catch (thrown) {
    const intro = `${shownName(named)} can't be imported, and nothing of it was:`;
    // The parser's message quotes a part of the document.
    if (!(thrown instanceof AppError)) throw new CommandFailed(`${intro} it is not JSON`);
    const { details } = thrown;
    if (details.length === 0) throw new CommandFailed(`${intro} ${thrown.message}`);
    const places = details.slice(0, PLACES_MAX).map(({ path, message }) => `  ${path} ${message}`);
    const more = details.length > PLACES_MAX ? ["  and more"] : [];
    throw new CommandFailed(intro, {
      further: [...places, ...more, ...(advice ? [advice] : [])],
    });
  }
}
