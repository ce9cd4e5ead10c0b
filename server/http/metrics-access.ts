import { createHash, timingSafeEqual } from "node:crypto";
import { bearerToken } from "./bearer.ts";

/** The address that a request's socket is connected to; undefined when there is none to tell. */
export type PeerAddress = () => string | undefined;

const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;

/** Set by proxies: behind one on this machine, every peer is on this machine. */
const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/**
 * Who may read the metrics: with a `token` whoever sends it, from anywhere; without one this
 * machine alone, by the address of the socket. A header can only take that right away.
 */
export function mayReadMetrics(
  headers: Headers,
  peer: PeerAddress | undefined,
  token: string | undefined,
): boolean {
  if (token !== undefined) return isSame(bearerToken(headers.get("authorization")), token);
  if (FORWARDING_HEADERS.some((name) => headers.has(name))) return false;
  return LOOPBACK.test(peer?.() ?? "");
}

/** Takes the same time for every wrong token. */
function isSame(given: string | undefined, token: string): boolean {
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
