import type { Failure } from "../service/failure.ts";
import type { Outcome, Service } from "../service/service.ts";

/** Stands for a service that can't be called for the moment. Every call fails with the reason. */
export function unavailableService(name: string, why: Failure): Service {
  const outcome: Outcome<never> = { kind: "unreachable", ...why };
  return {
    name,
    isBlocked: true,
    blockedBy: why,
    exchange: async () => outcome,
    createProject: async () => outcome,
    request: async () => outcome,
    forward: async () => outcome,
    close: async () => {},
  };
}
