import type { ProjectId } from "../../../shared/ids.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { Link } from "../../home/links.ts";
import type { FolderFormat } from "./folder-format.ts";

/** Whose memories a folder has. */
export type FolderOwner =
  | { readonly kind: "project"; readonly project: ProjectId }
  /** The person's, in every project. */
  | { readonly kind: "user" }
  /** It belongs to no linked project. */
  | { readonly kind: "nobody" }
  /**
   * Several paths have this folder, and they are not all of one project. `former`: it was that of
   * this linked folder, which had the path before.
   */
  | {
      readonly kind: "several";
      readonly paths: readonly string[];
      readonly former?: string | undefined;
    };

/** A folder of memories. */
export interface OwnedFolder {
  readonly path: string;
  readonly format: FolderFormat;
  readonly owner: FolderOwner;
  /** Why it is left alone, whoever owns it. */
  readonly isLink: boolean;
  /** It is not there yet. An assistant will look for it at this path. */
  readonly isNew: boolean;
  /** What is missing of its path is made below this folder alone. */
  readonly within: string;
  /** That folder itself is made, too: it is an assistant's, which has not begun here. */
  readonly makesWithin?: boolean;
  /**
   * It has the name of the project's former path, and nobody else is there. The project is at this
   * one now, where an assistant looks for another folder.
   */
  readonly movedTo?: string | undefined;
  /**
   * The linked folder that it is a part of. Then its files are files of the project: git has a say
   * in them, and they are not missing where that folder is.
   */
  readonly link?: Link | undefined;
}

/** Why a folder is left alone that several may own. */
export function whySeveral({
  paths,
  former,
}: Extract<FolderOwner, { readonly kind: "several" }>): Reason {
  if (former !== undefined) return { code: "memory-former", former, paths };
  return { code: "memory-several", paths };
}

/** What is known besides of where assistants worked. */
export interface KnownPlaces {
  readonly links: readonly Link[];
  /** The folders in which sessions began, as transcripts told. */
  readonly cwds: readonly string[];
  /** The projects that were found before. */
  readonly kept: ReadonlyMap<string, ProjectId | "user">;
}

/**
 * Where folders of one kind are.
 *
 * ```
 * for (const { path, owner } of await source.find({ links, cwds, kept })) use(path, owner);
 * ```
 */
export interface FolderSource {
  readonly kind: FolderFormat["kind"];
  /** In an order that does not change. */
  readonly find: (places: KnownPlaces) => Promise<readonly OwnedFolder[]>;
}
