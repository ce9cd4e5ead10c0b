import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { messageOf } from "../../shared/errors.ts";
import { parseProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Home } from "../home.ts";
import type { Link } from "../links.ts";

const PRIVATE_FILE = 0o600;

interface LinksFile {
  readonly links: readonly Link[];
  /** CRC-32 of `links` as JSON. */
  readonly checksum: number;
}

/**
 * Keeps a copy of the links beside the database, for the day on which that can't be read: which
 * folders are followed is known to this machine alone. The database is what counts until then, so a
 * copy that can't be written is logged and no more.
 */
export function keepLinks(home: Home, links: readonly Link[], log: Log): void {
  const file: LinksFile = { links, checksum: crc32(JSON.stringify(links)) };
  try {
    writeFileSync(`${home.links}.partial`, JSON.stringify(file), { mode: PRIVATE_FILE });
    renameSync(`${home.links}.partial`, home.links);
  } catch (thrown) {
    log.warn({ reason: messageOf(thrown) }, "the copy of the links could not be written");
  }
}

/** The copy; empty where there is none, or where it is not what was written. */
export function readKeptLinks(home: Home): Link[] {
  if (!existsSync(home.links)) return [];
  try {
    const { links, checksum } = JSON.parse(readFileSync(home.links, "utf8")) as LinksFile;
    if (crc32(JSON.stringify(links)) !== checksum) return [];
    return links.filter(({ projectId }) => parseProjectId(projectId) !== undefined);
  } catch {
    return [];
  }
}
