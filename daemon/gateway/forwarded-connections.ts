import { AppError } from "../../shared/errors.ts";
import { isObject } from "../../shared/json.ts";
import type { Connection, ConnectRequest } from "../../shared/wire/connection.ts";
import type { OpenRemotes } from "../remotes/open-remotes.ts";
import type { Outcome, Service } from "../service/service.ts";
import type { Caller, ConnectionService } from "./mount.ts";

const PATH = "/api/projects/connect";

const WHEN_IT_HAS_ONE = "it has a project of this machine's once that is linked and synced";

/**
 * Only the service connects projects. Requests are passed to the caller's remote, and refused with
 * an explanation while that can't be reached.
 */
export function forwardConnections(remotes: () => OpenRemotes): ConnectionService {
  const serviceOf = ({ account }: Caller): Service => {
    const open = remotes().find(account);
    if (open) return open.service;
    throw new AppError("not_found", "nothing that is followed is bound to this remote");
  };
  return {
    connect: async (caller, request) =>
      connectionIn(await serviceOf(caller).forward("POST", PATH, JSON.stringify(request))),
    disconnect: async (caller, request) =>
      connectionIn(await serviceOf(caller).forward("DELETE", `${PATH}?${queryOf(request)}`)),
  };
}

function queryOf({ project_id, target_project_id }: ConnectRequest): string {
  return new URLSearchParams({ project_id, target_project_id }).toString();
}

function connectionIn(outcome: Outcome<unknown>): Connection {
  if (outcome.kind === "answered") {
    const { connection } = isObject(outcome.value) ? outcome.value : {};
    // What the service answered is passed on unread. Without a connection in the answer, the caller
    // takes the call for done.
    return connection as Connection;
  }
  const message = `connections are made by the service: ${outcome.message}`;
  if (outcome.kind !== "refused") throw new AppError("internal", message);
  if (outcome.status === 404) {
    // A project that was made here may be one that the service is yet to hear of.
    throw new AppError("not_found", `${message} (${WHEN_IT_HAS_ONE})`);
  }
  if (outcome.status === 403) throw new AppError("forbidden", message);
  throw new AppError("invalid_request", message);
}
