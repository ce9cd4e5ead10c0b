import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { mayOnlyRead } from "../../shared/forbidden.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { findProject, type ProjectRow } from "../stores/project-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { Caller } from "./services.ts";

/**
 * The account's project with this id. Throws a 404; or a 403 if the token is restricted to others.
 */
export async function getProject(
  db: Kysely<ServiceTables>,
  caller: Caller,
  id: ProjectId,
): Promise<ProjectRow> {
  const project = await findProject(db, caller.account, id);
  if (!project) throw noSuchProject();
  assertBoundTo(caller, id);
  return project;
}

/** The 404 for a project that the account does not have. */
export function noSuchProject(): AppError {
  return new AppError("not_found", "there is no such project");
}

/** Throws a 403 if the token is restricted to other projects. */
export function assertBoundTo(caller: Caller, id: ProjectId): void {
  if (!mayReach(caller, id)) throw boundElsewhere();
}

/** The same for what may belong to no project. A restricted token does not reach that either. */
export function assertReaches(caller: Caller, id: ProjectId | null): void {
  if (caller.boundTo !== null && (id === null || !caller.boundTo.includes(id))) {
    throw boundElsewhere();
  }
}

/** The 403 for something outside of a token's projects. */
export function boundElsewhere(): AppError {
  const message = "this token is bound to projects and reaches nothing else: use one that is not";
  return new AppError("forbidden", message);
}

/** Whether the token's restriction allows a project, which need not exist. */
export function mayReach(caller: Caller, id: ProjectId): boolean {
  return caller.boundTo === null || caller.boundTo.includes(id);
}

/** Throws 403 for a token that may only read. */
export function assertCanWrite(caller: Caller): void {
  if (!caller.canWrite) throw mayOnlyRead();
}
