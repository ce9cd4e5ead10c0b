import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Kysely } from "kysely";
import { readMemoryFiles, readMemoryFolders } from "../../daemon/home/memory-files.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { FoundMemory } from "../search/local-search.ts";

/** Claude Code reads no more lines of its index. */
const INDEX_LINES_MAX = 200;

/**
 * Which memories the session of a transcript is told by its own files, unless somebody has turned
 * that off: those of Claude Code's auto memory that are in its folder as they are, and that the
 * index there names.
 */
export async function readByItself(
  db: Kysely<DaemonTables>,
  transcript: string | undefined,
): Promise<(found: FoundMemory) => boolean> {
  const folder = transcript === undefined ? undefined : join(dirname(transcript), "memory");
  const owner = folder && (await readMemoryFolders(db)).get(folder);
  if (folder === undefined || owner === undefined) return () => false;
  const { AUTO_MEMORY } = await import(
    "../../daemon/assistants/claude-code/auto-memory-folders.ts"
  );
  const files = await readMemoryFiles(db, folder);
  const { index: indexName = "", prefix } = AUTO_MEMORY;
  const isThere = (name: string) => existsSync(join(folder, name));
  const index = isThere(indexName) ? (files.get(indexName)?.text ?? "") : "";
  const lines = index.split("\n").slice(0, INDEX_LINES_MAX).join("\n");
  const isRead = (name: string) =>
    name === indexName ? lines === index : lines.includes(`(${name})`);
  return ({ memory: { key, value }, place: { document } }) => {
    const name = key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
    if (name === undefined || document !== owner || files.get(name)?.text !== value) return false;
    return isRead(name) && isThere(name);
  };
}
