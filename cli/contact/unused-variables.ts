import { isSameAddress } from "../../daemon/home/remote.ts";
import { digestOfToken } from "../../daemon/service/token-digest.ts";
import type { Introduction } from "../../daemon/supervise/introduction.ts";
import { sayAside } from "../screen/output.ts";

/** Something unexpected about the service that a shell names, with advice. */
export interface ShellNote {
  readonly code: "daemon-another-service" | "daemon-another-token";
  readonly detail: string;
  readonly mend: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The variables of this shell that the running daemon does not use. A person who sets them means to
 * write to that service, or as that token's user; a shell that sets nothing means what the daemon
 * has.
 */
export function unusedHere(
  { MEMSYNC_URL: url, MEMSYNC_TOKEN: token }: Variables,
  { service, environment }: Pick<Introduction, "service" | "environment">,
): readonly ShellNote[] {
  const its = service ? service.url : environment.url;
  if (url && !isSameAddress(url, its)) return [anotherService(its)];
  if (!service) return [];
  // The embedded service has no token, and `up` says so.
  if (!token || service.url === null || digestOfToken(token.trim()) === service.token) return [];
  return [
    {
      code: "daemon-another-token",
      detail:
        "MEMSYNC_TOKEN is another token here than the running daemon's, which goes on with " +
        "its own",
      mend:
        "unset it here, or run `memsync stop` and `memsync start` to use it; another user needs " +
        "another MEMSYNC_HOME, too",
    },
  ];
}

/**
 * The note on a shell that names another service. The shell's own value is not shown, since it may
 * contain a password.
 */
function anotherService(its: string | null): ShellNote {
  const service = its ?? "the embedded one";
  return {
    code: "daemon-another-service",
    detail: `MEMSYNC_URL is another here than the running daemon's service, ${service}`,
    mend:
      "it goes on with that one: unset it here, or run `memsync stop` and `memsync start` to " +
      "change its service",
  };
}

let hasSaid = false;

/** Whether this command has said already that the daemon does not use what its shell sets. */
export function hasSaidNote(): boolean {
  return hasSaid;
}

/** It is in what the command says, so that it is not said again. */
export function noteSaid(): void {
  hasSaid = true;
}

/** Prints a note on standard error. */
export function sayNote({ detail, mend }: Pick<ShellNote, "detail" | "mend">): void {
  noteSaid();
  sayAside(`${detail}: ${mend}`);
}
