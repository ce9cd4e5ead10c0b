import type { Outcome, Service } from "../service/service.ts";

/** Stands for a service that can't be called for the moment. Every call fails with the reason. */
export function unavailableService(name: string, message: string): Service {
  const outcome: Outcome<never> = { kind: "unreachable", message };
  return {
    name,
    isBlocked: true,
    blockedUntil: message,
    exchange: async () => outcome,
    createProject: async () => outcome,
    request: async () => outcome,
    forward: async () => outcome,
    close: async () => {},
  };
}
