// What a service turned out to be, without any service: only an answer decides.
//
//               exchanged                    asked, then read
//   extended ◀──────────────── (unknown) ───────────────────────▶ plain ──┐
//      ▲                                                            ▲     │ asked again
//      │                         exchanged                          └─────┘
//      └──────────────────────────────────────────────────────────────────

/** A service that had no exchange is asked again after this long whether it has one now. */
const ASK_AGAIN_MS = 10 * 60_000;

/** One with the replica exchange, or one of the published interface alone. */
export type ServiceKind = "extended" | "plain";

/** What is known of a service, of this process alone. */
export interface KnownKind {
  /** Undefined before the first answer. */
  readonly kind: ServiceKind | undefined;
  /** When it answered without an exchange last, on the world's steady clock. */
  readonly askedAt: number;
  /** It may have an exchange since: it was out of reach, or shows more than it did. */
  readonly isToAsk: boolean;
  /** Its last reading had what the published interface has not. */
  readonly showedMore: boolean;
}

export const KIND_UNKNOWN: KnownKind = {
  kind: undefined,
  askedAt: Number.NEGATIVE_INFINITY,
  isToAsk: true,
  showedMore: false,
};

/** What is heard of a service. */
export type KindEvent =
  /** It answered an exchange with one. */
  | { readonly kind: "exchanged" }
  /** It answered one in the published form; `at` on the world's steady clock. */
  | { readonly kind: "asked"; readonly at: number }
  /** What it gave to read by the published interface: all of that, or more. */
  | { readonly kind: "showed"; readonly more: boolean }
  /** A round by the published interface went through. */
  | { readonly kind: "read" }
  | { readonly kind: "unreachable" };

/** What is known of a service after an event. */
export function stepKind(before: KnownKind, event: KindEvent): KnownKind {
  switch (event.kind) {
    case "exchanged":
      return { ...before, kind: "extended" };
    case "asked":
      return { ...before, askedAt: event.at, isToAsk: false };
    case "showed": {
      const isToAsk = before.isToAsk || (event.more && !before.showedMore);
      return { ...before, isToAsk, showedMore: event.more };
    }
    case "read":
      return { ...before, kind: "plain" };
    case "unreachable":
      return { ...before, isToAsk: true };
  }
}

/** Whether a service is to be asked for an exchange before it is read. `now`: as `askedAt`. */
export function mustAsk({ kind, isToAsk, askedAt }: KnownKind, now: number): boolean {
  return kind !== "plain" || isToAsk || now - askedAt >= ASK_AGAIN_MS;
}
