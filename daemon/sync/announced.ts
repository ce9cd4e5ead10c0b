import type { Position } from "../../shared/wire/position.ts";
import type { SyncUnit } from "../budget/sync-units.ts";

/** A document's place in the service's log, as a live frame told it. */
export interface Announced {
  readonly unit: SyncUnit;
  /** The document's name. */
  readonly name: string;
  readonly position: Position;
  /**
   * By which frame. What has `changed` is at or behind the document's place; where it `stands` is
   * exactly its place, and behind ours when the service was restored from an older copy.
   */
  readonly by: "changed" | "stands";
}

/** Whether a call has to be made about a document of which `known` is integrated here. */
export function isToFetch({ position, by }: Announced, known: Position | undefined): boolean {
  if (known?.epoch !== position.epoch) return true;
  return by === "changed" ? known.seq < position.seq : known.seq !== position.seq;
}
