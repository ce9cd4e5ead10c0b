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
 * What a shell sets and the running daemon does not use: whoever types a command there means to
 * write to that service, or as that token's user. A shell that sets nothing means the daemon's.
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

/** Capitals of a host, a scheme's own port and slashes at the end make no other address. */
function isSameAddress(url: string, its: string | null): boolean {
  const [one, other] = [url, its ?? ""].map((each) => {
    return (URL.parse(each)?.href ?? each).replace(/\/+$/, "");
  });
  return one === other;
}

/** A shell that names another service. Its own value may contain a password. */
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

/** Says it on standard error. */
export function sayNote({ detail, mend }: Pick<ShellNote, "detail" | "mend">): void {
  sayAside(`${detail}: ${mend}`);
}
