import { assert } from "../../errors.ts";
import {
  type AccountId,
  asUserId,
  type ProjectId,
  parseProjectId,
  type UserId,
} from "../../ids.ts";
import type { Layer } from "../../wire/layer.ts";

/** Identifies a document: its owner, and a project's id, `user/<user id>` or `global`. */
export interface DocumentAddress {
  readonly owner: AccountId;
  readonly name: string;
}

/** The address of a project's document, which need not exist. */
export function projectDocument(owner: AccountId, project: ProjectId): DocumentAddress {
  return { owner, name: project };
}

/** The address of the document of a user's own memories, which need not exist. */
export function userDocument(owner: AccountId, user: UserId): DocumentAddress {
  return { owner, name: `user/${user}` };
}

/** The address of the document of the account's memories, which need not exist. */
export function globalDocument(owner: AccountId): DocumentAddress {
  return { owner, name: "global" };
}

/** The layer of a document's memories. */
export function layerOf(name: string): Layer {
  if (name === "global") return "global";
  return name.startsWith("user/") ? "user" : "project";
}

/** The document's id for `memoryIdOf`: the project's id, `user` or `global`. */
export function wireDocumentId(name: string): string {
  return layerOf(name) === "project" ? name : layerOf(name);
}

/** The project that a document belongs to; undefined for `user` and `global`. */
export function projectOf(name: string): ProjectId | undefined {
  return layerOf(name) === "project" ? parseProjectId(name) : undefined;
}

/** The project of a document that is known to be one's. */
export function getProjectOf(name: string): ProjectId {
  const project = projectOf(name);
  assert(project !== undefined, "a project's document has the project's id for a name");
  return project;
}

/** The user whose own memories a document has; undefined for other documents. */
export function userOf(name: string): UserId | undefined {
  return layerOf(name) === "user" ? asUserId(name.slice("user/".length)) : undefined;
}
