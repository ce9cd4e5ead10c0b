import type { ErrorCode } from "../../shared/errors.ts";

/**
 * The registry of codes with which a command fails, for `--json`, and what each of them means. The
 * sentence beside a code is for people.
 */
export const FAILURES = {
  failed: "anything else: the sentence says what",
  "not-found":
    "there is none of what was named: no such memory, version, conflict, project, remote, folder",
  ambiguous: "what was named may be several things",
  unlinked: "the folder belongs to no project",
  taken: "something is there already, and is not written over",
  "needs-yes": "it has to be agreed to, and there is no terminal to ask at: say --yes",
  declined: "it was asked, and nobody agreed",
  "no-daemon": "no daemon runs that could do it",
  "daemon-silent": "the daemon does not answer",
  offline: "the service can't be reached",
  "not-synced": "not everything of this machine is acknowledged",
  deleted: "the project was deleted",
  "invalid-request": "the service, or the daemon, does not take what was asked",
  unauthorized: "the service does not take the token",
  "port-in-use": "another process listens on the port",
  forbidden: "the token may not do it",
  "rate-limited": "the account's requests are used up for now",
  internal: "the service, or the daemon, failed, or the service could not be asked",
  unforeseen: "an error that memsync does not know, as of a disk",
} as const;

/** A code of the registry. */
export type FailureCode = keyof typeof FAILURES;

/** The code of a command's failure, for each code of a refusal by a service or the daemon. */
export const FAILURE_OF: Readonly<Record<ErrorCode, FailureCode>> = {
  invalid_request: "invalid-request",
  unauthorized: "unauthorized",
  forbidden: "forbidden",
  not_found: "not-found",
  rate_limited: "rate-limited",
  internal: "internal",
};
