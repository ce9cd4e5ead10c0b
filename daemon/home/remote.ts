import { AppError } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";

/** Name of the service that is kept in the home; every home has it. */
export const EMBEDDED = "embedded";

/**
 * Stands for the address of a service that is not known any more, since a damaged database did not
 * tell it.
 */
export const UNKNOWN_SERVICE = "unknown:";

/** Where a remote's token is kept. */
export type TokenPlace = "keyring" | "file";

/** A service under the name that this home knows it by. */
export interface Remote {
  readonly name: string;
  /** Scheme and host, without `/v1` or `/api`; undefined for the embedded service. */
  readonly url: string | undefined;
  /** Owns what is bound to it in the home's replica; no two remotes share one, ever. */
  readonly account: AccountId;
  /** Where `login` put its token; undefined when nobody logged in. */
  readonly tokenPlace: TokenPlace | undefined;
  /** What is new is bound to it, unless `MEMSYNC_URL` or the caller says otherwise. */
  readonly isDefault: boolean;
}

/** The service that the environment names: `MEMSYNC_URL`, with its `MEMSYNC_TOKEN`. */
export interface RemoteEnvironment {
  readonly url: string | undefined;
  readonly token: string | undefined;
}

const NAME = /^[a-z0-9][a-z0-9.-]{0,62}$/;

/** Throws one sentence for what is no name of a remote. */
export function parseRemoteName(text: string): string {
  if (NAME.test(text)) return text;
  throw new AppError(
    "invalid_request",
    "a remote's name is 1 to 63 of a-z, 0-9, dot and dash, and begins with a letter or digit",
  );
}

/**
 * A service's address in the one form that remotes and positions are kept under. Throws one
 * sentence, which starts with `what`, for anything else; it never repeats what was given.
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
  if (/\/(v1|api)\/*$/.test(url.pathname)) {
    throw new AppError(
      "invalid_request",
      `${what} ends in /v1 or /api: leave that out, both are found from the address before it`,
    );
  }
  return text.replace(/\/+$/, "");
}

/** A name made of an address, for a remote that was given none; not one of `taken`. */
export function nameOfUrl(url: string, taken: readonly string[]): string {
  const host = new URL(url).host.toLowerCase().replace(/[^a-z0-9.-]+/g, "-");
  const base = host.replace(/^[^a-z0-9]+/, "").slice(0, 56) || "service";
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.includes(name)) return name;
  }
}

/** The refusal of a name that no remote has. */
export function noSuchRemote(name: string): AppError {
  return new AppError(
    "not_found",
    `there is no remote ${name}: \`memsync remote list\` shows those there are`,
  );
}

/** The name that positions with a remote are kept under. */
export function serviceNameOf(remote: Pick<Remote, "url"> | undefined): string {
  return remote?.url ?? EMBEDDED;
}
