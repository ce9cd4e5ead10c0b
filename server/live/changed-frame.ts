import { encodeServerFrame, LIVE_UPDATE_BYTES_MAX } from "../../shared/wire/live.ts";
import type { LiveChange } from "../services/services.ts";

const made = new WeakMap<LiveChange, string>();

/** The `changed` frame of a commit, with a small update in it. Made once for all sockets. */
export function changedFrameOf(change: LiveChange): string {
  const known = made.get(change) ?? makeFrame(change);
  made.set(change, known);
  return known;
}

function makeFrame(change: LiveChange): string {
  const { projectId, document, epoch, seq, update } = change;
  const small = update.length <= LIVE_UPDATE_BYTES_MAX;
  const position = { type: "changed", projectId, document, epoch, seq } as const;
  return encodeServerFrame(small ? { ...position, update } : position);
}
