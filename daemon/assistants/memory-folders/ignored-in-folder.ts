import { join, relative, sep } from "node:path";
import type { Kysely } from "kysely";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import type { Link } from "../../home/links.ts";
import type { MemoryOwner } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import {
  type Ignored,
  readIgnored,
  readIgnoredOf,
  takeIgnored,
  takeIgnoredOf,
  type WhyIgnored,
} from "../../ignored/ignore-file.ts";
import { readKeptTwins } from "../../ignored/kept-twins.ts";
import type { OwnedFolder } from "../folders/owned-folder.ts";
import { keyOfName } from "./memory-names.ts";

/** What stays on this machine of a folder of memories. */
export interface IgnoredInFolder {
  /** Why a file of this name does; undefined: it does not. */
  readonly why: (name: string) => WhyIgnored | undefined;
  /** Equal as long as the answers are. */
  readonly sign: string;
}

/** A folder whose owner is known. */
type Owned<Owner> = Pick<OwnedFolder, "path" | "format" | "link"> & { readonly owner: Owner };

/** What stays on this machine of a folder, as of now, and remembers what says so. */
export async function takeIgnoredIn(
  store: ReplicaStore<DaemonTables>,
  links: readonly Link[],
  folder: Owned<MemoryOwner>,
): Promise<IgnoredInFolder> {
  const { owner, path } = folder;
  return await byKeyOrPath(
    folder,
    owner === "user"
      ? await takeIgnored(store, path, "memories")
      : await takeIgnoredOf(store, links, owner),
  );
}

/** The same, and remembers nothing. */
export async function readIgnoredIn(
  db: Kysely<DaemonTables>,
  links: readonly Link[],
  folder: Owned<MemoryOwner | null>,
): Promise<IgnoredInFolder> {
  const { owner, path } = folder;
  return await byKeyOrPath(
    folder,
    owner === "user"
      ? await readIgnored(db, path, "memories")
      : await readIgnoredOf(db, links, owner),
  );
}

/**
 * A project's `.memsyncignore` names a file by its key, or by its path in the project if it is
 * there. What is of no project is named by one in the folder itself.
 */
async function byKeyOrPath(
  { path, format, link, owner }: Owned<MemoryOwner | null>,
  { why, sign }: Ignored,
): Promise<IgnoredInFolder> {
  const whyTwin = link ? await readKeptTwins(link.dir, { why }) : undefined;
  const below = link && relative(link.dir, path).split(sep).join("/");
  const byName = (name: string) => {
    const ofPath = below === undefined ? undefined : why(`${below}/${name}`);
    const ofName = owner === "user" ? why(name) : undefined;
    return why(keyOfName(format, name)) ?? ofPath ?? ofName;
  };
  const whyHere =
    sign === "" ? undefined : await readKeptTwins(path, { why: byName, isDeep: true });
  return {
    why(name) {
      const file = join(path, name);
      return byName(name) ?? whyTwin?.(file) ?? whyHere?.(file);
    },
    sign,
  };
}
