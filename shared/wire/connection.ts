import { type Static, Type } from "@sinclair/typebox";
import { invalidAt } from "../errors.ts";
import type { ProjectId } from "../ids.ts";
import { ProjectIdText } from "./id.ts";
import { parseWith } from "./parse.ts";
import { existingProjectId } from "./project-id.ts";
import { text } from "./text.ts";
import { Timestamp } from "./timestamp.ts";

/** A connection of two projects; `connected` is false once undone. */
export const Connection = Type.Object(
  {
    project_ids: Type.Tuple([ProjectIdText, ProjectIdText]),
    connected: Type.Boolean({ description: "false once it is undone" }),
    created_at: Timestamp,
  },
  { title: "Connection" },
);
export type Connection = Static<typeof Connection>;

/** Answer of `POST /api/projects/connect` and of its `DELETE`. */
export const ConnectAnswer = Type.Object({ connection: Connection }, { title: "ConnectAnswer" });
export type ConnectAnswer = Static<typeof ConnectAnswer>;

/** Body of `POST /api/projects/connect`; the query of its `DELETE`. */
export const ConnectBody = Type.Object(
  { project_id: text(), target_project_id: text() },
  { title: "ConnectRequest", description: "two different projects of the account" },
);

/** Two different projects to connect or to disconnect. */
export interface ConnectRequest {
  readonly project_id: ProjectId;
  readonly target_project_id: ProjectId;
}

/** Throws a 400, or a 404 for an ill-formed id. */
export function parseConnectRequest(value: unknown): ConnectRequest {
  const { project_id, target_project_id } = parseWith(ConnectBody, value);
  return connectRequestOf(project_id, target_project_id, "/target_project_id");
}

/**
 * A request with two ids. Throws a 404 for a malformed id; and a 400 that points at `targetPlace`
 * if they are equal.
 */
export function connectRequestOf(
  projectId: string,
  targetProjectId: string,
  targetPlace: string,
): ConnectRequest {
  if (projectId === targetProjectId) {
    throw invalidAt(targetPlace, "a project can't be connected with itself");
  }
  return {
    project_id: existingProjectId(projectId),
    target_project_id: existingProjectId(targetProjectId),
  };
}
