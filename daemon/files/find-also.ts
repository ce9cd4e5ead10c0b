import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import type { Reason } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { isMissing } from "../disk/read-file.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { folderOf } from "./names/also-file.ts";
import { readFollowed } from "./state/follow-store.ts";

/** What is at the path of a further file, and why it is left alone. */
export async function findAlso(store: ReplicaStore<DaemonTables>, link: Link, name: string) {
  const folder = folderOf(link);
  const main = await readFollowed(store.reader, folder);
  const found = await lstat(join(folder, name)).catch((thrown: unknown) => {
    return isMissing(thrown) ? undefined : messageOf(thrown);
  });
  if (found === undefined && main) return undefined;
  return { inode: inodeOf(found), problem: problemOf(found, { main: main?.path, name }) };
}

type Found = Awaited<ReturnType<typeof lstat>> | string | undefined;

function inodeOf(found: Found): string | undefined {
  return typeof found === "object" ? String(found.ino) : undefined;
}

function problemOf(
  found: Found,
  { main, name }: { readonly main: string | undefined; readonly name: string },
): Reason | undefined {
  if (main === undefined) return { code: "also-waits" };
  if (main === name) return { code: "also-counts" };
  if (typeof found === "string") return { code: "unreadable", said: found };
  return found?.isSymbolicLink() ? { code: "became-link" } : undefined;
}
