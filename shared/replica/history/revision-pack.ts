import { crc32 } from "node:zlib";
import { assert } from "../../errors.ts";
import { parseStored } from "../../json.ts";
import { compress, decompress } from "../log/compressed.ts";

/** A revision within the history of its key. Times are milliseconds since the Unix epoch. */
export interface PastValue {
  readonly value: string;
  readonly writtenAt: number;
  readonly replacedAt: number;
  /** The machine that wrote it; undefined where that is unknown. */
  readonly machine: string | undefined;
}

/** Successive revisions of one key, compressed together. */
export interface RevisionPack {
  readonly count: number;
  /** Bytes before compression. */
  readonly bytes: number;
  readonly payload: Uint8Array;
  /** CRC-32 of the payload. */
  readonly checksum: number;
}

/**
 * One line of JSON before the values. For each: its size in bytes (UTF-8), the time since the one
 * before it in milliseconds, how long it was current, and its machine's index in `machines`, or -1
 * for none.
 */
interface Head {
  readonly machines: readonly string[];
  readonly each: readonly (readonly [number, number, number, number])[];
}

const LINE_BREAK = 0x0a;

/**
 * Packs revisions in order, as a line of JSON and their values. Throws unless the pack returns
 * exactly what was put in, because the originals are deleted.
 *
 * ```
 * unpackRevisions(packRevisions(revisions)); // equal to `revisions`
 * ```
 */
export function packRevisions(revisions: readonly PastValue[]): RevisionPack {
  const values = revisions.map(({ value }) => Buffer.from(value, "utf8"));
  const head = JSON.stringify(headOf(revisions, values));
  const plain = Buffer.concat([Buffer.from(`${head}\n`, "utf8"), ...values]);
  const payload = compress(plain, "thorough");
  const pack = { count: values.length, bytes: plain.length, payload, checksum: crc32(payload) };
  assert(areEqual(unpackRevisions(pack), revisions), "a pack gives back what went in");
  return pack;
}

function headOf(revisions: readonly PastValue[], values: readonly Uint8Array[]): Head {
  const machines = new Map<string, number>();
  let before = 0;
  const each = revisions.map(({ writtenAt, replacedAt, machine }, at) => {
    const place = machine === undefined ? -1 : (machines.get(machine) ?? machines.size);
    if (machine !== undefined) machines.set(machine, place);
    const since = writtenAt - before;
    before = writtenAt;
    return [values[at]?.length ?? 0, since, replacedAt - writtenAt, place] as const;
  });
  return { machines: [...machines.keys()], each };
}

/** The revisions of a pack, in order. Throws for anything that `packRevisions` did not make. */
export function unpackRevisions(pack: RevisionPack): PastValue[] {
  assert(crc32(pack.payload) === pack.checksum, "a pack is what was written");
  const found = decompress(pack.payload, pack.bytes);
  const plain = Buffer.from(found.buffer, found.byteOffset, found.length);
  const start = plain.indexOf(LINE_BREAK) + 1;
  const { machines, each } = parseStored<Head>(plain.toString("utf8", 0, start));
  assert(each.length === pack.count, "a pack holds as many as it says");
  let at = start;
  let writtenAt = 0;
  return each.map(([bytes, since, stood, place]) => {
    const value = plain.toString("utf8", at, at + bytes);
    at += bytes;
    writtenAt += since;
    return { value, writtenAt, replacedAt: writtenAt + stood, machine: machines[place] };
  });
}

function areEqual(some: readonly PastValue[], others: readonly PastValue[]): boolean {
  if (some.length !== others.length) return false;
  return some.every(({ value, writtenAt, replacedAt, machine }, at) => {
    const other = others[at];
    return (
      value === other?.value &&
      writtenAt === other.writtenAt &&
      replacedAt === other.replacedAt &&
      machine === other.machine
    );
  });
}
