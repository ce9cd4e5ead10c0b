import type { Activity, ContactChanged, Transfer } from "../../daemon/home/activity.ts";
import { SERVICE_MACHINE } from "../../shared/replica/document/machine-name.ts";
import { joinedTo, joinWays } from "./joined-words.ts";
import { bytesShown, clockShown, count, firstLine } from "./output.ts";
import { tilde } from "./tilde.ts";

/** The length of the longest event's name, so that the rest is aligned. */
const EVENT_WIDTH = 9;

/** An event in one line: its name, its place and its details. */
export function activityLine(activity: Activity): string {
  const cells = [activity.event.padEnd(EVENT_WIDTH), ...cellsOf(activity)];
  return cells.filter((cell) => cell !== "").join("  ");
}

function cellsOf(activity: Activity): string[] {
  switch (activity.event) {
    case "connected":
      return [activity.service];
    case "refused":
      return [activity.service, `the token: ${activity.reason ?? "it takes no call"}`];
    case "busy":
      return [activity.service, busyReason(activity)];
    case "offline":
      return [activity.service, activity.reason ?? ""];
    case "deleted":
      return [activity.project, activity.machine === null ? "" : `on ${activity.machine}`];
    case "wrote":
      return [activity.project, tilde(activity.file), bytesShown(activity.bytes)];
    case "conflict":
    case "held":
      return [activity.project, firstLine(activity.what)];
    case "joined":
      return [activity.project, `${joinedTo(activity)}: ${joinWays(activity)}`];
    default:
      return transferCells(activity);
  }
}

/** The time comes first, for a terminal may be too narrow for the rest. */
function busyReason({ reason, until }: ContactChanged): string {
  const when = until === undefined ? [] : [`asked again at ${clockShown(Date.parse(until))}`];
  return [...when, ...(reason === null ? [] : [reason])].join(": ");
}

function transferCells(transfer: Transfer): string[] {
  const { layer, project, bytes, machine } = transfer;
  return [
    project ?? `layer ${layer}`,
    whatOf(transfer),
    bytes === null ? "" : bytesShown(bytes),
    machine === null ? "" : `from ${machine === SERVICE_MACHINE ? "the service" : machine}`,
  ];
}

function whatOf({ text, memories, deleted = 0, key }: Transfer): string {
  const kept = memories - deleted;
  const named = key === null ? undefined : `memory ${firstLine(key)}`;
  const what = [
    ...(text ? ["document"] : []),
    ...(kept > 0 ? [named ?? count(kept, "memory", "memories")] : []),
    ...(deleted > 0 ? [`${named ?? count(deleted, "memory", "memories")} deleted`] : []),
  ];
  // Nothing is named for changes from before this daemon started, and for what merges recorded.
  return what.length > 0 ? what.join(", ") : "other changes";
}
