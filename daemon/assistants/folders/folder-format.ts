import type { FolderKind } from "../../home/folder-switches.ts";

/** What is an assistant's own in how it keeps texts in a folder of files. */
export interface FolderFormat {
  /** What is to be turned on for it. */
  readonly kind: FolderKind;
  /** Keys of memories that are files of such a folder begin with it. */
  readonly prefix: string;
  /** How its files are called. Others in the folder are not looked at. */
  readonly ending: string;
  /** Whether folders in it belong to it. A file's name then is its path, with `/` between. */
  readonly isDeep: boolean;
  /** The file that leads to all others; undefined: the assistant finds each by itself. */
  readonly index?: string | undefined;
}
