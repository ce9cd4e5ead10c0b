import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { Reason } from "../../../shared/reasons.ts";
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
 * const read = await new MemoryFolderReader().read(folder, new Map());
 * ```
 */
export class MemoryFolderReader {
  readonly #seen = new Map<string, Sighting>();

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
    const { size = 0n, mtimeNs = 0n, ctimeNs = 0n, ino = 0n } = stats ?? {};
    if (size > LIMITS.memoryValueBytes) return TOO_LARGE;
    const signature = [size, mtimeNs, ctimeNs, ino].join(" ");
    const seen = this.#seen.get(path);
    if (known && stats?.isFile() && seen?.signature === signature && seen.hash === known.hash) {
      const savedAt = Number(mtimeNs / 1_000_000n);
      return { kind: "text", content: known.text, hash: known.hash, savedAt };
    }
    const file = await readMemoryFile(folder, name);
    if (file?.kind === "text") this.#seen.set(path, { signature, hash: file.hash });
    return file;
  }
}

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
