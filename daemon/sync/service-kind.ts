// What a service turned out to be, without any service: only an answer decides. `due` is a plain
// service that is to be asked for an exchange once more.
//
//   unknown ──exchanged──▶ extended ──published──▶ plain ──exchanged──▶ extended
//      └─published─▶ plain
//
//   plain ──shows more, unreachable or ten minutes──▶ due ──exchanged──▶ extended
//                                                      └─published─▶ plain

/** A service without an exchange is asked again after this time. */
const ASK_AGAIN_MS = 10 * 60_000;

/** `extended`: with the replica exchange. `plain`: only the published interface. */
export type ServiceKind = "extended" | "plain";

/** What this process knows about a service. */
export interface KnownKind {
  /** Undefined before the first answer. */
  readonly kind: ServiceKind | undefined;
  /** When it last answered without an exchange, by the world's steady clock. */
  readonly askedAt: number;
  /** It may have an exchange by now: it was out of reach, or shows more than before. */
  readonly isToAsk: boolean;
  /** Its last reading had more than the published interface has. */
  readonly showedMore: boolean;
}

export const KIND_UNKNOWN: KnownKind = {
  kind: undefined,
  askedAt: Number.NEGATIVE_INFINITY,
  isToAsk: true,
  showedMore: false,
};

/** Events that tell the kind of a service. */
export type KindEvent =
  /** It answered an exchange. */
  | { readonly kind: "exchanged" }
  /** It answered in the published form only; `at` by the world's steady clock. */
  | { readonly kind: "published"; readonly at: number }
  /** It showed what the published interface has, or `more`. */
  | { readonly kind: "showed"; readonly more: boolean }
  /** A round by the published interface succeeded. */
  | { readonly kind: "read" }
  | { readonly kind: "unreachable" };

/** What is known after an event. */
export function stepKind(before: KnownKind, event: KindEvent): KnownKind {
  switch (event.kind) {
    case "exchanged":
      return { ...before, kind: "extended" };
    case "published":
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

/** Whether to try an exchange before reading. `now`: same clock as `askedAt`. */
export function mustAsk({ kind, isToAsk, askedAt }: KnownKind, now: number): boolean {
  return kind !== "plain" || isToAsk || now - askedAt >= ASK_AGAIN_MS;
}
