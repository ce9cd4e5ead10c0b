import { createHash, timingSafeEqual } from "node:crypto";
import { bearerToken } from "./bearer.ts";
import { Networks } from "./networks.ts";

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  /** With the address it tells one connection from all others that are open. */
  readonly port: number;
}

/** Gives a request's peer; undefined where it is unknown. */
export type PeerAddress = () => Peer | undefined;

const LOOPBACK = new Networks(["127.0.0.0/8", "::1"]);

/** Set by proxies. Behind a proxy on this machine every peer seems to be this machine. */
const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/**
 * Whether a request may read the metrics. With a `token`: whoever sends it. Without: this machine
 * only, by the address of the socket. A header can only take that permission away.
 */
export function mayReadMetrics(
  headers: Headers,
  peer: PeerAddress | undefined,
  token: string | undefined,
): boolean {
  if (token !== undefined) return isSame(bearerToken(headers.get("authorization")), token);
  if (FORWARDING_HEADERS.some((name) => headers.has(name))) return false;
  return LOOPBACK.include(peer?.()?.address ?? "");
}

/** Takes equal time for every wrong token. */
function isSame(given: string | undefined, token: string): boolean {
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
