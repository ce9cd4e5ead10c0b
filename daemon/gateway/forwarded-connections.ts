import { AppError } from "../../shared/errors.ts";
import type { Connection, ConnectRequest } from "../../shared/wire/connection.ts";
import type { Outcome, Service } from "../sync/service.ts";
import type { ConnectionService } from "./mount.ts";

const PATH = "/api/projects/connect";

/**
 * Connections are the service's alone: they are asked of it as they come, and refused with a
 * sentence that says so while it can't be reached.
 */
export function forwardConnections(service: Service): ConnectionService {
  return {
    connect: async (_caller, request) =>
      connectionIn(await service.forward("POST", PATH, JSON.stringify(request))),
    disconnect: async (_caller, request) =>
      connectionIn(await service.forward("DELETE", `${PATH}?${queryOf(request)}`)),
  };
}

function queryOf({ project_id, target_project_id }: ConnectRequest): string {
  return new URLSearchParams({ project_id, target_project_id }).toString();
}

function connectionIn(outcome: Outcome<unknown>): Connection {
  if (outcome.kind === "answered") return (outcome.value as { connection: Connection }).connection;
  const message = `connections are made by the service: ${outcome.message}`;
  if (outcome.kind !== "refused") throw new AppError("internal", message);
  if (outcome.status === 404) throw new AppError("not_found", message);
  if (outcome.status === 403) throw new AppError("forbidden", message);
  throw new AppError("invalid_request", message);
}
