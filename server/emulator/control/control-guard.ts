import { timingSafeEqual } from "node:crypto";
import { AppError } from "../../../shared/errors.ts";
import { hashToken } from "../../accounts/token.ts";
import { bearerToken } from "../../http/bearer.ts";
import { refuseForeign } from "../../http/loopback.ts";
import type { ControlGuesses } from "./control-guesses.ts";

/** Who may control the emulator. */
export interface ControlGuard {
  /** Names, besides this machine's own, that a request may use as its host. */
  readonly allowedHosts: readonly string[];
  /** Whether only this machine reaches the port: then it has no names but this machine's. */
  readonly loopbackOnly: boolean;
  /** Asked for as a bearer token, beside what the host must be. */
  readonly token?: string | undefined;
  readonly guesses: ControlGuesses;
}

/**
 * Answered to anyone, because it changes nothing: a container's health check knows no token, and
 * the live page has to ask for one.
 */
const OPEN_TO_ALL: ReadonlySet<string> = new Set(["health", ""]);

/** Throws for a request that another site's page could have sent, or that lacks the token. */
export function refuseStrangers(
  { allowedHosts, loopbackOnly, token, guesses }: ControlGuard,
  { headers, method }: Request,
  { path, address = "" }: { readonly path: string; readonly address: string | undefined },
): void {
  const host = headers.get("host");
  // Other machines reach the port by names that are not known here. There the token protects: a
  // page of another site does not have it.
  if ((loopbackOnly || token === undefined) && host !== null)
    refuseForeign(new Headers({ host }), allowedHosts);
  if (isOfOtherPage(headers, host, allowedHosts)) {
    throw new AppError("forbidden", "other pages than its own may not control the emulator");
  }
  if (token === undefined || (OPEN_TO_ALL.has(path) && method === "GET")) return;
  const given = bearerToken(headers.get("authorization"));
  if (given !== undefined) {
    guesses.admit(address, given);
    if (equal(given, token)) return;
    guesses.failed(address, given);
  }
  throw new AppError("unauthorized", WHICH_TOKEN);
}

const WHICH_TOKEN =
  "control calls need the token that the emulator was given (MEMSYNC_EMULATOR_TOKEN, " +
  "controlToken), or made and printed when it started";

/**
 * A page at another port of this machine counts as another site, too, though browsers take it for
 * the same one.
 */
function isOfOtherPage(
  headers: Headers,
  host: string | null,
  allowedHosts: readonly string[],
): boolean {
  const origin = headers.get("origin");
  const [, asked, name = "", port] = /^https?:\/\/((.*?)(:\d+)?)$/.exec(origin ?? "") ?? [];
  // In front of it may be what ends TLS, at the port that goes without saying.
  const isOwnPort = port === undefined || port === portOf(host);
  const isNamed = allowedHosts.includes(name.toLowerCase()) && isOwnPort;
  if (origin !== null && asked !== host && !isNamed) return true;
  const site = headers.get("sec-fetch-site");
  const isOther = site === "cross-site" || site === "same-site";
  return isOther && headers.get("sec-fetch-mode") !== "navigate";
}

function portOf(host: string | null): string | undefined {
  return /:\d+$/.exec(host ?? "")?.[0];
}

function equal(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(one)), Buffer.from(hashToken(other)));
}
