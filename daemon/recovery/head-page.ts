import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { crc32 } from "node:zlib";

// https://www.sqlite.org/fileformat.html#the_database_header
const MAGIC = "SQLite format 3\0";
const PAGE_SIZE_AT = 16;
const PAGE_COUNT_AT = 28;
const CHECKSUM_BYTES = 4;
const PAGE_BYTES_MAX = 65_536;
const PRIVATE_FILE = 0o600;

/** Where the copy of a database's first page is kept. */
function headOf(path: string): string {
  return `${path}.head`;
}

/** Whether there is a copy; see `keepHead`. */
export function hasHead(path: string): boolean {
  return existsSync(headOf(path));
}

/**
 * Keeps a copy of a sound database's first page, for it says where every table begins: without it
 * nothing of the rest can be found. It changes with the schema alone, as far as that goes. A disk
 * that does not take the copy is none the worse for it.
 */
export function keepHead(path: string): void {
  try {
    const page = readFirstPage(path);
    if (!page) return;
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32BE(crc32(page));
    writeFileSync(`${headOf(path)}.partial`, Buffer.concat([checksum, page]), {
      mode: PRIVATE_FILE,
    });
    renameSync(`${headOf(path)}.partial`, headOf(path));
  } catch {
    // Without a copy, a damaged first page costs what the service does not hold.
  }
}

/**
 * Makes at `to` a copy of the database `from` that can be read even if the first page of `from`
 * can't be: that is the kept one then. Damaged as the rest may be, nothing of it is changed.
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

/** Only what every sound first page of this file has in common is compared. */
function isUnreadable(path: string, kept: Buffer): boolean {
  const page = readFirstPage(path);
  return page?.length !== kept.length || !sameSchema(page, kept);
}

/** Behind the header's 100 bytes stands the schema, or where it is. */
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
