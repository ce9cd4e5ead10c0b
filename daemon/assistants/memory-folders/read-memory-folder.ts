import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { World } from "../../../shared/world.ts";
import { readFileAt } from "../../disk/read-file.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import type { OwnedFolder } from "../folders/owned-folder.ts";
import { listMemoryFiles } from "./list-memory-files.ts";
import { isMemoryName } from "./memory-names.ts";

/** A file of a memory folder, as it is now. */
export type MemoryRead =
  | {
      readonly kind: "text";
      readonly content: string;
      /** What stands in the file, where git has made its line endings. */
      readonly asRead?: string;
      /** SHA-256 of the bytes, in hex. */
      readonly hash: string;
      readonly savedAt: number;
    }
  | { readonly kind: "problem"; readonly why: Reason };

export type MemoryText = Extract<MemoryRead, { kind: "text" }>;

/** A memory folder as it is now. */
export type FolderRead =
  | { readonly kind: "files"; readonly files: ReadonlyMap<string, MemoryRead> }
  | { readonly kind: "problem"; readonly why: Reason };

/** Which folder is read, and as what. */
type Described = Pick<OwnedFolder, "path" | "format">;

/** A short look at a folder. */
export interface Glance {
  readonly sign: string;
  /** It could be looked into, and nothing was changed just now: another sign tells of changes. */
  readonly isPast: boolean;
}

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
   * Equal as long as no file of the folder was changed, added or removed. What is changed twice in
   * one tick of the file system's clock may go unseen; see `isPast`.
   */
  async glance({ path, format }: Described): Promise<Glance> {
    const listed = await listMemoryFiles(path, format);
    if (listed.kind !== "names") return { sign: "", isPast: false };
    const { names, links } = listed;
    const stats = await Promise.all(
      names.map((name) => lstat(join(path, name), { bigint: true }).catch(() => undefined)),
    );
    const sign = JSON.stringify([names, links, stats.map((each) => each && signatureOf(each))]);
    return { sign, isPast: stats.every((each) => each && this.#isPast(each)) };
  }

  /** A second change in one tick of the file system's clock can't be told from the first. */
  #isPast({ ctimeNs }: BigIntStats): boolean {
    return this.#world.now() - Number(ctimeNs / NS_PER_MS) > TICK_MS;
  }

  /** `known`: the files as they were last, by name. A folder that is not there has no files. */
  async read(
    { path, format }: Described,
    known: ReadonlyMap<string, MemoryFile>,
  ): Promise<FolderRead> {
    const listed = await listMemoryFiles(path, format);
    if (listed.kind === "problem") return listed;
    const files = new Map<string, MemoryRead>(listed.links.map((name) => [name, LINK]));
    for (const name of listed.names) {
      const why = whyNotNamed(format, name, listed.names);
      const of = { name, known: known.get(name) };
      const file: MemoryRead | undefined = why
        ? { kind: "problem", why }
        : await this.#file(path, of);
      if (file) files.set(name, file);
    }
    return { kind: "files", files };
  }

  async #file(
    folder: string,
    { name, known }: { readonly name: string; readonly known: MemoryFile | undefined },
  ): Promise<MemoryRead | undefined> {
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

/** Why a file is left alone for its name; `names` are all that the folder has. */
function whyNotNamed(
  format: FolderFormat,
  name: string,
  names: readonly string[],
): Reason | undefined {
  const { ending } = format;
  if (!name.endsWith(ending)) return { code: "memory-ending", ending };
  if (isMemoryName(format, name)) return undefined;
  const composed = name.normalize("NFC");
  if (!isMemoryName(format, composed)) return { code: "memory-name" };
  return names.includes(composed)
    ? { code: "memory-clash", other: composed }
    : { code: "memory-form" };
}

function signatureOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return [size, mtimeNs, ctimeNs, ino].join(" ");
}

const NS_PER_MS = 1_000_000n;
/** Longer than any file system's clock stands still. */
const TICK_MS = 2000;

const LINK: MemoryRead = { kind: "problem", why: { code: "memory-folder-link" } };
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
