import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { World } from "../../../shared/world.ts";
import { isMissing, readFileAt } from "../../disk/read-file.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import { isMemoryName } from "./memory-names.ts";

/** More files than this are no notes: a person has put something else there. */
const FILES_MAX = 1000;

/** A file of a memory folder, as it is now. */
export type MemoryRead =
  | {
      readonly kind: "text";
      readonly content: string;
      /** SHA-256 of the bytes, in hex. */
      readonly hash: string;
      readonly savedAt: number;
    }
  | { readonly kind: "problem"; readonly why: Reason };

/** A memory folder as it is now. */
export type FolderRead =
  | { readonly kind: "files"; readonly files: ReadonlyMap<string, MemoryRead> }
  | { readonly kind: "problem"; readonly why: Reason };

/** What a file was like when it was read, so that it is read again only where that differs. */
interface Sighting {
  readonly signature: string;
  readonly hash: string;
}

/**
 * Reads the Markdown files of memory folders, again only those that may have changed. Writes
 * nothing.
 *
 * ```
 * const read = await new MemoryFolderReader(world).read(folder, new Map());
 * ```
 */
export class MemoryFolderReader {
  readonly #world: Pick<World, "now">;
  readonly #seen = new Map<string, Sighting>();

  constructor(world: Pick<World, "now">) {
    this.#world = world;
  }

  /**
   * Equal as long as no file of the folder was changed, added or removed. Undefined where that
   * can't be told, since something was changed just now or can't be read.
   */
  async glimpse(folder: string): Promise<string | undefined> {
    const names = await readdir(folder).catch(() => undefined);
    const signatures: string[] = [];
    for (const name of names?.sort() ?? []) {
      const stats = await lstat(join(folder, name), { bigint: true }).catch(() => undefined);
      if (!stats || !this.#isPast(stats)) return undefined;
      signatures.push(`${name} ${signatureOf(stats)}`);
    }
    return names && JSON.stringify(signatures);
  }

  /** A second change in one tick of the file system's clock can't be told from the first. */
  #isPast({ ctimeNs }: BigIntStats): boolean {
    return this.#world.now() - Number(ctimeNs / NS_PER_MS) > TICK_MS;
  }

  /** `known`: the files as they were last, by name. A folder that is not there has no files. */
  async read(folder: string, known: ReadonlyMap<string, MemoryFile>): Promise<FolderRead> {
    const names = await readdir(folder).catch((thrown) => {
      if (isMissing(thrown)) return [];
      return { code: "unreadable", said: messageOf(thrown) } as const;
    });
    if ("code" in names) return { kind: "problem", why: names };
    // Names with a dot before them are temporary files, memsync's own as well.
    const found = names.filter((name) => name.endsWith(".md") && !name.startsWith("."));
    if (found.length > FILES_MAX) {
      return { kind: "problem", why: { code: "memory-too-many", files: found.length } };
    }
    const files = new Map<string, MemoryRead>();
    for (const name of found.sort()) {
      const file = await this.#file(folder, name, known.get(name));
      if (file) files.set(name, file);
    }
    return { kind: "files", files };
  }

  async #file(
    folder: string,
    name: string,
    known: MemoryFile | undefined,
  ): Promise<MemoryRead | undefined> {
    if (!isMemoryName(name)) return { kind: "problem", why: { code: "memory-name" } };
    const path = join(folder, name);
    const stats = await lstat(path, { bigint: true }).catch(() => undefined);
    if (!stats) return undefined;
    if (stats.isFile() && stats.size > LIMITS.memoryValueBytes) return TOO_LARGE;
    const signature = signatureOf(stats);
    const seen = this.#seen.get(path);
    if (known && stats.isFile() && seen?.signature === signature && seen.hash === known.hash) {
      const savedAt = Number(stats.mtimeNs / NS_PER_MS);
      return { kind: "text", content: known.text, hash: known.hash, savedAt };
    }
    const file = await readMemoryFile(folder, name);
    if (file?.kind === "text" && this.#isPast(stats)) {
      this.#seen.set(path, { signature, hash: file.hash });
    }
    return file;
  }
}

function signatureOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return [size, mtimeNs, ctimeNs, ino].join(" ");
}

const NS_PER_MS = 1_000_000n;
/** Longer than any file system's clock stands still. */
const TICK_MS = 2000;

const TOO_LARGE: MemoryRead = { kind: "problem", why: { code: "memory-too-large" } };

/** Undefined where there is none. Two equal reads, since another program may be writing it. */
async function readMemoryFile(folder: string, name: string): Promise<MemoryRead | undefined> {
  const file = await readFileAt(folder, name);
  if (file.kind === "absent") return undefined;
  if (file.kind === "problem") return { kind: "problem", why: file.why };
  if (exceedsBytes(file.content, LIMITS.memoryValueBytes)) return TOO_LARGE;
  const again = await readFileAt(folder, name);
  if (again.kind !== "text" || again.hash !== file.hash) {
    return { kind: "problem", why: { code: "being-written" } };
  }
  const { content, hash, savedAt } = file;
  return { kind: "text", content, hash, savedAt };
}
