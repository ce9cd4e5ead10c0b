import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { crc32 } from "node:zlib";
import { keepCopy } from "./keep-copy.ts";

// https://www.sqlite.org/fileformat.html#the_database_header
const MAGIC = "SQLite format 3\0";
const PAGE_SIZE_AT = 16;
const PAGE_COUNT_AT = 28;
const CHECKSUM_BYTES = 4;
const PAGE_BYTES_MAX = 65_536;

/** Where the copy of a database's first page is. */
function headOf(path: string): string {
  return `${path}.head`;
}

/** Whether there is a copy; see `keepHead`. */
export function hasHead(path: string): boolean {
  return existsSync(headOf(path));
}

/**
 * Stores a copy of a sound database's first page. That page says where each table begins, so
 * without it nothing can be read. It hardly changes unless the schema does. If the copy can't be
 * written, nothing else is affected.
 */
export function keepHead(path: string): void {
  try {
    const page = readFirstPage(path);
    if (!page) return;
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32BE(crc32(page));
    keepCopy(headOf(path), Buffer.concat([checksum, page]));
  } catch {
    // Without a copy, a damaged first page costs everything that the service does not hold.
  }
}

/**
 * Copies the database `from` to `to`. If the first page of `from` is unreadable, the copy gets the
 * stored one. Nothing else is changed, whatever its damage.
 */
export function copyReadable(from: string, to: string): void {
  if (!existsSync(from)) return;
  for (const part of ["", "-wal"]) {
    if (existsSync(`${from}${part}`)) copyFileSync(`${from}${part}`, `${to}${part}`);
  }
  const head = readKeptHead(from);
  if (!head || !isUnreadable(from, head)) return;
  head.writeUInt32BE(Math.floor(statSync(from).size / head.length), PAGE_COUNT_AT);
  const file = openSync(to, "r+");
  writeSync(file, head, 0, head.length, 0);
  closeSync(file);
}

/** Compares only what all sound first pages of this file have in common. */
function isUnreadable(path: string, kept: Buffer): boolean {
  const page = readFirstPage(path);
  return page?.length !== kept.length || !sameSchema(page, kept);
}

/** The schema, or where it is, follows the header's 100 bytes. */
function sameSchema(page: Buffer, kept: Buffer): boolean {
  return page.subarray(100).equals(kept.subarray(100));
}

function readKeptHead(path: string): Buffer | undefined {
  if (!existsSync(headOf(path))) return undefined;
  const kept = readFileSync(headOf(path));
  const page = kept.subarray(CHECKSUM_BYTES);
  if (kept.length <= CHECKSUM_BYTES || crc32(page) !== kept.readUInt32BE(0)) return undefined;
  return Buffer.from(page);
}

function readFirstPage(path: string): Buffer | undefined {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(PAGE_BYTES_MAX);
    const read = readSync(file, buffer, 0, PAGE_BYTES_MAX, 0);
    if (!buffer.toString("latin1", 0, MAGIC.length).startsWith(MAGIC)) return undefined;
    const size = buffer.readUInt16BE(PAGE_SIZE_AT) || PAGE_BYTES_MAX;
    return read >= size ? buffer.subarray(0, size) : undefined;
  } finally {
    closeSync(file);
  }
}
