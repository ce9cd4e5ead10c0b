import type { PeerAddress } from "./metrics-access.ts";
import { canonicalAddress, type Networks } from "./networks.ts";

/** A port behind an address, which some proxies add. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/;

/**
 * The address of a request's client: that of the socket, unless that is a trusted proxy's. Each
 * proxy adds the address that it was reached from to the end of `X-Forwarded-For`, so the header is
 * read from its end, and only as far as trusted proxies wrote it: the first address that is none of
 * theirs is the client's. What stands before it may be forged. Something that is no address ends
 * the reading, and the client is whoever passed it on.
 */
export function clientAddress(
  headers: Headers,
  peer: PeerAddress | undefined,
  trusted: Networks | undefined,
): string | undefined {
  const given = peer?.()?.address;
  if (given === undefined) return undefined;
  let client = canonicalAddress(given) ?? given;
  if (trusted === undefined || trusted.isEmpty || !trusted.include(client)) return client;
  const listed = headers.get("x-forwarded-for")?.split(",") ?? [];
  for (const written of listed.reverse()) {
    const next = addressIn(written.trim());
    if (next === undefined) return client;
    client = next;
    if (!trusted.include(client)) return client;
  }
  return client;
}

function addressIn(written: string): string | undefined {
  const [, ipv6, ipv4] = WITH_PORT.exec(written) ?? [];
  return canonicalAddress(ipv6 ?? ipv4 ?? written);
}
