import type { Log } from "../../shared/log.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { JoinedStatus } from "./joined-status.ts";

/** What of a document was sent to its service or came from there. */
export interface Transfer {
  /** `saved`: the service is embedded in this home, so nothing left the machine. */
  readonly event: "sent" | "received" | "saved";
  /** The layer of the document. Everybody in the account can read what is sent of `global`. */
  readonly layer: Layer;
  /** The project's name; null for another layer. */
  readonly project: string | null;
  /** Whether the description document changed. */
  readonly text: boolean;
  /** How many memories were written or deleted. */
  readonly memories: number;
  /** How many of them are not there any more. A line of an older version does not have it. */
  readonly deleted?: number;
  /** The memory's key, if exactly one memory changed. */
  readonly key: string | null;
  /** Size of the update in bytes; null for a service that takes no updates. */
  readonly bytes: number | null;
  /** The machines that wrote it; null where that is unknown, or was this one. */
  readonly machine: string | null;
}

/** A deleted project: its service was told of it, or told it. */
export interface ProjectDeletedActivity {
  readonly event: "deleted";
  readonly project: string;
  /** The machine that deleted it; null for this one, or where that is unknown. */
  readonly machine: string | null;
}

/** A followed file into which others' changes were written. */
export interface FileWritten {
  readonly event: "wrote";
  readonly project: string;
  readonly file: string;
  readonly bytes: number;
}

/** A service answers again, refuses the token, is too busy, or does not answer any more. */
export interface ContactChanged {
  readonly event: "connected" | "refused" | "busy" | "offline";
  readonly service: string;
  /** Why, in words and as a code; null for a service that answers. A line of before has no code. */
  readonly reason: string | null;
  readonly code?: string | null;
  /** When a busy service is called again. */
  readonly until?: string;
}

/** A new conflict or a newly held write. */
export interface Noticed {
  readonly event: "conflict" | "held";
  readonly project: string;
  /** A memory's key, or whatever else it concerns. */
  readonly what: string;
}

/** Another machine has linked its folder of a project that is linked here to another one. */
export interface JoinedActivity extends JoinedStatus {
  readonly event: "joined";
  readonly project: string;
}

/** What a person may want to watch. It is written to the log and to the screen of `up`. */
export type Activity =
  | Transfer
  | ProjectDeletedActivity
  | FileWritten
  | ContactChanged
  | Noticed
  | JoinedActivity;

/** Called with each event, in order. */
export type OnActivity = (activity: Activity) => void;

const EVENTS: Readonly<Record<Activity["event"], "info" | "warn">> = {
  sent: "info",
  received: "info",
  saved: "info",
  deleted: "info",
  wrote: "info",
  connected: "info",
  refused: "warn",
  busy: "warn",
  offline: "warn",
  conflict: "warn",
  held: "warn",
  joined: "warn",
};

/** Writes an event into the log, as one line whose message is the event's name. */
export function logActivity(log: Log, activity: Activity): void {
  const { event, ...fields } = activity;
  log[EVENTS[event]](fields, event);
}

/** Reads a line that `logActivity` wrote; undefined for any other line. */
export function parseActivity(line: Readonly<Record<string, unknown>>): Activity | undefined {
  const { msg, level: _level, time: _time, ...fields } = line;
  if (typeof msg !== "string" || !(msg in EVENTS)) return undefined;
  // Only this program writes lines with these messages, and always with all fields.
  return { event: msg, ...fields } as unknown as Activity;
}
