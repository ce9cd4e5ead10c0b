import { type ProjectId, parseProjectId, type UserId } from "../../ids.ts";
import type { Layer } from "../../wire/layer.ts";

/** Where a document lives: whose it is, and a project's id, `user/<user id>` or `global`. */
export interface DocumentAddress {
  readonly owner: string;
  readonly name: string;
}

/** Where a project's document is, made or not. */
export function projectDocument(owner: string, project: ProjectId): DocumentAddress {
  return { owner, name: project };
}

/** Where the document of one user's own memories is, made or not. */
export function userDocument(owner: string, user: UserId): DocumentAddress {
  return { owner, name: `user/${user}` };
}

/** Where the document of the whole account's memories is, made or not. */
export function globalDocument(owner: string): DocumentAddress {
  return { owner, name: "global" };
}

/** Which layer of memories a document holds. */
export function layerOf(name: string): Layer {
  if (name === "global") return "global";
  return name.startsWith("user/") ? "user" : "project";
}

/** The document's id as `memoryIdOf` wants it: the project's id, `user` or `global`. */
export function wireDocumentId(name: string): string {
  return layerOf(name) === "project" ? name : layerOf(name);
}

/** The project that a document belongs to; undefined for `user` and `global`. */
export function projectOf(name: string): ProjectId | undefined {
  return layerOf(name) === "project" ? parseProjectId(name) : undefined;
}
