import { tokenAdvice } from "../../daemon/service/token-advice.ts";
import type { RemoteStatus } from "../../daemon/status/status.ts";
import { comingShown, momentShown, spanShown } from "../screen/output.ts";
import { toned } from "../screen/tones.ts";

/**
 * This long before its end a token's expiry is said: the person who makes tokens may be away for
 * some days.
 */
const WARNED_MS = 7 * 24 * 60 * 60 * 1000;

interface Time {
  readonly now: number;
  /** Leaves out what changes by time alone. */
  readonly calm: boolean;
}

/** A line about a remote's token that expires soon, or has expired; else none. */
export function tokenExpiryLines(remote: RemoteStatus, { now, calm }: Time): string[] {
  const { token_expires_at: end, service } = remote;
  if (end === null) return [];
  const leftMs = Date.parse(end) - now;
  if (leftMs > WARNED_MS) return [];
  // If the service has refused it, the service's own line says what to do.
  const todo = service.token_refused ? "" : `: ${tokenAdvice(remote)}`;
  const moment = momentShown(end, now);
  if (leftMs > 0) {
    const when = calm ? moment : comingShown(end, now);
    return [`token     ${toned("pending", `expires ${when}${todo}`)}`];
  }
  const when = calm ? moment : `${spanShown(-leftMs)} ago`;
  return [`token     ${toned("bad", `expired ${when}${todo}`)}`];
}

/** When a token expires, in a sentence for whoever has just given it. */
export function expirySentence(end: string, now: number): string {
  return `the token expires ${comingShown(end, now)} (${momentShown(end, now)})`;
}
