import { ALSO_NAMES } from "../../disk/followable-files.ts";
import type { Link } from "../../home/links.ts";

/** A file that follows the project's text beside the file that counts. */
export type AlsoName = (typeof ALSO_NAMES)[number];

/** No folder's path has this in it: links are at real paths. */
const BETWEEN = "//";

/**
 * A further file of a linked folder as a link of its own, whose `dir` is a key: what is known of a
 * followed file lies under its link's `dir`. Whatever touches the disk asks `folderOf`.
 *
 * ```
 * alsoLinks({ ...link, dir: "/shop", also: ["GEMINI.md"] }); // one with the dir "/shop//GEMINI.md"
 * ```
 */
export function alsoLinks({ also = [], file: _, ...link }: Link): Link[] {
  return also.map((name) => ({ ...link, dir: alsoKey(link.dir, name) }));
}

/** What is known of a further file lies under this key. */
export function alsoKey(dir: string, name: string): string {
  return `${dir}${BETWEEN}${name}`;
}

/** The keys of all further files that a folder may have; none for such a key. */
export function alsoKeysOf(dir: string): string[] {
  return alsoNameOf({ dir }) ? [] : ALSO_NAMES.map((name) => alsoKey(dir, name));
}

/** The folder of a link, also of one that `alsoLinks` made. */
export function folderOf({ dir }: Pick<Link, "dir">): string {
  return dir.split(BETWEEN)[0] ?? dir;
}

/** The name of a further file, from the folder; undefined for the link of a folder. */
export function alsoNameOf({ dir }: Pick<Link, "dir">): string | undefined {
  return dir.split(BETWEEN)[1];
}

/** The file of a link by its key, for a sentence: "file in /shop", "file GEMINI.md in /shop". */
export function fileAt(key: string): string {
  const name = alsoNameOf({ dir: key });
  return `file ${name === undefined ? "" : `${name} `}in ${folderOf({ dir: key })}`;
}
