import { existsSync, readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { Kysely } from "kysely";
import { messageOf } from "../../shared/errors.ts";
import { type AccountId, parseProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Home } from "../home/home.ts";
import { type Link, listLinks } from "../home/links.ts";
import type { Remote } from "../home/remote.ts";
import { listBindings, listRemotes } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { keepCopy } from "./keep-copy.ts";

/** The remotes that a home's projects are bound to. */
export interface KeptBindings {
  /** Empty: nothing in the home was ever bound to a remote by name. */
  readonly remotes: readonly Remote[];
  /** The account of each project. */
  readonly projects: Readonly<Record<string, AccountId>>;
}

/** What the copy holds. */
export interface KeptLinks {
  readonly links: readonly Link[];
  /** Undefined while they are being changed: then nobody may rely on them. */
  readonly bindings: KeptBindings | undefined;
}

interface LinksFile {
  readonly links: readonly Link[];
  /** Missing in files of versions without remotes. */
  readonly bindings?: KeptBindings | null;
  /** CRC-32 of the text that `summed` makes. */
  readonly checksum: number;
}

/** Reads everything that the copy contains. */
export async function readLinksToKeep(db: Kysely<DaemonTables>): Promise<KeptLinks> {
  const projects = Object.fromEntries(await listBindings(db));
  return { links: await listLinks(db), bindings: { remotes: await listRemotes(db), projects } };
}

/**
 * Stores a copy of the links and bindings beside the database. If the database becomes unreadable,
 * only this copy tells which folders are followed and which services may have their projects. Until
 * then the database counts, so a failure to write the copy is only logged.
 */
export function keepLinks(home: Home, { links, bindings }: KeptLinks, log: Log): void {
  const file = { links, bindings: bindings ?? null };
  const checksum = crc32(summed(file));
  try {
    keepCopy(home.links, JSON.stringify({ ...file, checksum } satisfies LinksFile));
  } catch (thrown) {
    log.warn({ reason: messageOf(thrown) }, "the copy of the links could not be written");
  }
}

const NOTHING: KeptLinks = { links: [], bindings: undefined };

/** Reads the copy; empty where there is none or its checksum is wrong. */
export function readKeptLinks(home: Home): KeptLinks {
  if (!existsSync(home.links)) return NOTHING;
  try {
    // The checksum tells below whether this program wrote it.
    const file = JSON.parse(readFileSync(home.links, "utf8")) as LinksFile;
    if (crc32(summed(file)) !== file.checksum) return NOTHING;
    const { bindings = { remotes: [], projects: {} } } = file;
    const links = file.links.filter(({ projectId }) => parseProjectId(projectId) !== undefined);
    return { links, bindings: bindings ?? undefined };
  } catch {
    return NOTHING;
  }
}

function summed({ links, bindings }: Omit<LinksFile, "checksum">): string {
  return JSON.stringify(bindings === undefined ? links : [links, bindings]);
}
