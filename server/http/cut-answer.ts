/** What of an answer still leaves before its connection is cut. */
export interface Cut {
  /** The beginning of the body; undefined: not even the head leaves. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

const cuts = new WeakMap<Response, Cut>();

/**
 * The listener cuts the connection instead of sending this answer whole. A service never does this;
 * it is for those that play one with a bad connection.
 */
export function cutAnswer(response: Response, cut: Cut): Response {
  cuts.set(response, cut);
  return response;
}

/** Undefined for an answer that is sent like any other. */
export function cutOf(response: Response): Cut | undefined {
  return cuts.get(response);
}
