import { AppError } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";

/** Name of the service that is part of the home. Every home has it. */
export const EMBEDDED = "embedded";

/** In place of the address of a service that a damaged database no longer tells. */
export const UNKNOWN_SERVICE = "unknown:";

/** Where a remote's token is kept. */
export type TokenPlace = "keyring" | "file";

/** A service under the name that this home gave it. */
export interface Remote {
  readonly name: string;
  /** Scheme and host, without `/v1` or `/api`; undefined for the embedded service. */
  readonly url: string | undefined;
  /** Owns what is bound to it in the home's replica. No two remotes ever have the same. */
  readonly account: AccountId;
  /** Where `login` stored its token; undefined where nobody logged in. */
  readonly tokenPlace: TokenPlace | undefined;
  /** New projects are bound to it, unless `MEMSYNC_URL` or the caller says otherwise. */
  readonly isDefault: boolean;
}

/** The service that the environment names: `MEMSYNC_URL`, with its `MEMSYNC_TOKEN`. */
export interface RemoteEnvironment {
  readonly url: string | undefined;
  readonly token: string | undefined;
}

const NAME = /^[a-z0-9][a-z0-9.-]{0,62}$/;

/** Throws one sentence for an invalid name. */
export function parseRemoteName(text: string): string {
  if (NAME.test(text)) return text;
  throw new AppError(
    "invalid_request",
    "a remote's name is 1 to 63 of a-z, 0-9, dot and dash, and begins with a letter or digit",
  );
}

/**
 * Normalises a service's address. Throws one sentence, which starts with `what`, for anything that
 * is no such address. The sentence never repeats the input, which may contain a token.
 */
export function parseServiceUrl(text: string, what: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new AppError("invalid_request", `${what} is not an http or https address`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new AppError(
      "invalid_request",
      `${what} holds a user name or password: take it out, and give the token to \`memsync login\``,
    );
  }
  if (/[?#]/.test(text)) {
    throw new AppError(
      "invalid_request",
      `${what} has a ? or a #: leave out what stands from there on, the paths come after it`,
    );
  }
  if (/\/(v1|api)\/*$/.test(url.pathname)) {
    throw new AppError(
      "invalid_request",
      `${what} ends in /v1 or /api: leave that out, both are found from the address before it`,
    );
  }
  return text.replace(/\/+$/, "");
}

/** Derives a remote's name from its address; a name that is not in `taken`. */
export function nameOfUrl(url: string, taken: readonly string[]): string {
  const host = new URL(url).host.toLowerCase().replace(/[^a-z0-9.-]+/g, "-");
  const base = host.replace(/^[^a-z0-9]+/, "").slice(0, 56) || "service";
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.includes(name)) return name;
  }
}

/** `MEMSYNC_URL` names no remote of the home. Nothing was written. */
export class UnknownDefault extends AppError {}

/** The error for a name that no remote has. */
export function noSuchRemote(name: string): AppError {
  return new AppError(
    "not_found",
    `there is no remote ${name}: \`memsync remote list\` shows those there are`,
  );
}

/** The name under which positions with a remote are stored. */
export function serviceNameOf(remote: Pick<Remote, "url"> | undefined): string {
  return remote?.url ?? EMBEDDED;
}

/**
 * Whether two addresses are the same: upper case in a host, a scheme's default port and slashes at
 * the end make no difference.
 */
export function isSameAddress(url: string, its: string | null): boolean {
  const [one, other] = [url, its ?? ""].map((each) => {
    return (URL.parse(each)?.href ?? each).replace(/\/+$/, "");
  });
  return one === other;
}
