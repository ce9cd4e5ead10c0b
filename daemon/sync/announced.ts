import type { Position } from "../../shared/wire/position.ts";
import type { SyncUnit } from "../budget/sync-units.ts";

/** A document's position in the service's log, as a live frame told it. */
export interface Announced {
  readonly unit: SyncUnit;
  /** The document's name. */
  readonly name: string;
  readonly position: Position;
  /**
   * The kind of frame. `changed`: the document is at this position or a later one. `stands`: it is
   * at exactly this position. That is earlier than ours if the service was restored from an older
   * copy.
   */
  readonly by: "changed" | "stands";
}

/** Whether a document must be fetched, if everything up to `known` is integrated here. */
export function isToFetch({ position, by }: Announced, known: Position | undefined): boolean {
  if (known?.epoch !== position.epoch) return true;
  return by === "changed" ? known.seq < position.seq : known.seq !== position.seq;
}
