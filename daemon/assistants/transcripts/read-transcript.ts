import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import * as zlib from "node:zlib";
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../../shared/json.ts";
import { NO_FACTS, type ReadLine, type SessionFacts } from "./session-facts.ts";
import type { TranscriptFile } from "./transcript-file.ts";

/** A transcript is read in pieces of this size, with other work in between. */
const PIECE_BYTES = 1024 * 1024;
/** A longer line, as one with pictures in it, is left out. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
/** A transcript that is read as a whole may have this size. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The first bytes of a file, and the last ones that were read, tell whether it was written anew
 * under the same name.
 */
const END_BYTES = 512;

/** How far a transcript was read, and what it told. It is JSON. */
export interface TranscriptState {
  readonly facts: SessionFacts;
  /** What the file was like at the last look. */
  readonly size: number;
  readonly modifiedMs: number;
  readonly inode: string;
  /** Read up to here, where a line begins. */
  readonly offset: number;
  /** SHA-256 of the first bytes before `offset`, at most `END_BYTES`. */
  readonly head: string;
  /** The same of the last ones before it. Undefined where an older version has read them. */
  readonly tail?: string;
  /** The line at `offset` is too long, and was left out as far as it goes. */
  readonly inLongLine?: boolean;
  /** The session ran while none was to be recorded: nothing more of it is. */
  readonly isWithheld?: boolean;
}

/** Whether a file is as it was when it was read. */
export function isAsRead(file: TranscriptFile, state: TranscriptState | undefined): boolean {
  return (
    state !== undefined &&
    state.size === file.size &&
    state.modifiedMs === file.modifiedMs &&
    state.inode === file.inode
  );
}

/**
 * Reads what was appended since `state`; everything, if the file is another one or was written
 * anew. A last line without its end is read when it has one. What is no JSON is left out. Rejects
 * where the file can't be read.
 */
export async function readTranscript(
  file: TranscriptFile,
  state: TranscriptState | undefined,
  readLine: ReadLine,
): Promise<TranscriptState> {
  const handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (file.form !== "lines") return await readWhole(handle, file, readLine);
    const from = state && (await isContinued(handle, file, state)) ? state : undefined;
    return await readLines(handle, file, { from, readLine });
  } finally {
    await handle.close();
  }
}

async function isContinued(
  handle: FileHandle,
  { inode, size }: TranscriptFile,
  state: TranscriptState,
): Promise<boolean> {
  if (state.inode !== inode || size < state.offset) return false;
  const { head, tail } = await endsBefore(handle, state.offset);
  return head === state.head && (state.tail === undefined || tail === state.tail);
}

async function endsBefore(
  handle: FileHandle,
  offset: number,
): Promise<Required<Pick<TranscriptState, "head" | "tail">>> {
  const length = Math.min(END_BYTES, offset);
  return {
    head: await digestAt(handle, 0, length),
    tail: await digestAt(handle, offset - length, length),
  };
}

async function digestAt(handle: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(length), position });
  return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex");
}

async function readLines(
  handle: FileHandle,
  file: TranscriptFile,
  { from, readLine }: { readonly from: TranscriptState | undefined; readonly readLine: ReadLine },
): Promise<TranscriptState> {
  let { facts = NO_FACTS, offset = 0, inLongLine = false } = from ?? {};
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    const position = offset + rest.length;
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(PIECE_BYTES),
      position,
    });
    if (bytesRead === 0) break;
    const text = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    let begin = 0;
    for (;;) {
      const end = text.indexOf(0x0a, begin);
      if (end < 0) break;
      if (!inLongLine) facts = withLine(facts, text.subarray(begin, end), readLine);
      inLongLine = false;
      begin = end + 1;
    }
    rest = text.subarray(begin);
    offset += begin;
    if (rest.length > LINE_BYTES_MAX) {
      inLongLine = true;
      offset += rest.length;
      rest = Buffer.alloc(0);
    }
  }
  const { size, modifiedMs, inode } = file;
  const ends = await endsBefore(handle, offset);
  return { facts, size, modifiedMs, inode, offset, ...ends, ...(inLongLine && { inLongLine }) };
}

async function readWhole(
  handle: FileHandle,
  { size, modifiedMs, inode, form }: TranscriptFile,
  readLine: ReadLine,
): Promise<TranscriptState> {
  const read = { size, modifiedMs, inode, offset: 0, head: "" };
  if (size > WHOLE_BYTES_MAX) return { ...read, facts: NO_FACTS };
  const bytes = await handle.readFile();
  if (form === "json") return { ...read, facts: withLine(NO_FACTS, bytes, readLine) };
  const text = await uncompressed(bytes);
  const facts = text
    .split("\n")
    .reduce((before, line) => withLine(before, line, readLine), NO_FACTS);
  return { ...read, facts };
}

/** Empty where this runtime knows no Zstandard, as Node before 22.15. */
async function uncompressed(bytes: Buffer): Promise<string> {
  const { zstdDecompress } = zlib;
  if (zstdDecompress === undefined) return "";
  return await new Promise<string>((resolve, reject) => {
    zstdDecompress(bytes, { maxOutputLength: WHOLE_BYTES_MAX * 8 }, (error, plain) => {
      if (error) reject(error);
      else resolve(plain.toString("utf8"));
    });
  });
}

function withLine(facts: SessionFacts, line: Buffer | string, readLine: ReadLine): SessionFacts {
  const parsed = parsedLine(line);
  return parsed ? readLine(facts, parsed) : facts;
}

/** Undefined for what is no JSON object: a line cut off by a crash, or of another format. */
function parsedLine(line: Buffer | string): JsonObject | undefined {
  if (line.length === 0) return undefined;
  try {
    const value: JsonValue = parseJson(line.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
