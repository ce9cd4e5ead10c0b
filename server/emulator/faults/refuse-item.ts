import { refusedAt } from "../../../shared/wire/parse.ts";

const MESSAGE = "is refused by an injected fault";

/** A sync's body, as far as its items are looked for. */
interface SyncBody {
  readonly memories?: unknown;
  readonly crdt?: {
    readonly documents?: Record<string, unknown>;
    readonly projects?: Record<string, unknown>;
  };
}

/** How one item of a sync is refused. */
export interface ItemRefusal {
  /**
   * The body that is left for the service. Undefined: the whole request is refused with this error.
   */
  readonly body: unknown;
  readonly error?: Error;
  /** Puts the refusal into the service's answer. */
  complete(answer: unknown, requestId: string): unknown;
}

/**
 * Refuses the item of this name as the service would: a plain sync as a whole, because it is taken
 * whole or not at all; of an exchange one document or project. Undefined if there is no such item.
 */
export function refuseItem(body: unknown, name: string): ItemRefusal | undefined {
  // Each field is looked at before it is used.
  const { memories, crdt } = (typeof body === "object" && body !== null ? body : {}) as SyncBody;
  const same = (answer: unknown) => answer;
  if (Array.isArray(memories)) {
    const at = memories.findIndex((memory) => memory?.key === name);
    if (at === -1) return undefined;
    return { body, error: refusedAt(`/memories/${at}`, MESSAGE), complete: same };
  }
  const part = (["documents", "projects"] as const).find((each) => {
    return typeof crdt?.[each] === "object" && Object.hasOwn(crdt[each] ?? {}, name);
  });
  if (!crdt || !part) return undefined;
  const { [name]: _, ...rest } = crdt[part] ?? {};
  return {
    // What has `crdt` is an object.
    body: { ...(body as object), crdt: { documents: {}, ...crdt, [part]: rest } },
    complete: (answer, requestId) => {
      const refused =
        part === "documents"
          ? { refused: { message: MESSAGE } }
          : { error: { code: "invalid_request", message: MESSAGE, request_id: requestId } };
      // An exchange is answered with `crdt`, whatever else is in it.
      const known = answer as { crdt: Record<string, object> };
      const parts = { ...known.crdt[part], [name]: refused };
      return { ...known, crdt: { ...known.crdt, [part]: parts } };
    },
  };
}
