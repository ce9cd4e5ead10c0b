import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { count } from "../screen/output.ts";
import { toned } from "../screen/tones.ts";
import { hasEnded, unlinkedCount } from "./project-list.ts";

/** A project that is linked nowhere here, in a status with or without a daemon. */
interface Unlinked {
  readonly id: string;
  readonly name: string | null;
  readonly remote: string | null;
  readonly memories: number;
  readonly waiting: number;
  readonly sending: number;
  readonly deleted: object | null;
  readonly joined: readonly JoinedStatus[];
  readonly refused: string | null;
}

/** How many projects have no link, and those of which something waits. */
export function unlinkedLines(unlinked: readonly Unlinked[], withRemote: boolean): string[] {
  const projects = unlinked.filter((each) => !hasEnded(each) || each.waiting > 0);
  const waiting = projects.filter((project) => project.waiting > 0);
  return [
    ...(waiting.length < projects.length ? unlinkedCount(projects.length) : []),
    ...waiting.flatMap((project) => waitingLines(project, withRemote)),
  ];
}

function waitingLines(project: Unlinked, withRemote: boolean): string[] {
  const { id, name, remote, memories, waiting, sending, deleted, joined, refused } = project;
  const at = withRemote && remote ? `   at ${remote}` : "";
  const saved = `${count(memories, "memory", "memories")} saved`;
  const until = `until \`memsync link DIR --id ${id}\``;
  const changes = count(waiting - sending, "change", "changes");
  const here = `${toned("pending", `${changes} on this machine only`)}, ${until}`;
  const why = refused === null ? waitingShown(sending) : refusedShown(refused);
  const state = deleted ? "deleted" : joinedShown(joined[0]);
  const told = [
    ...(sending > 0 && state ? [`${state}, ${why}`] : []),
    ...(waiting > sending ? [`${saved}, ${state ?? "linked to no folder"}: ${here}`] : []),
  ];
  const title = `unlinked  ${name === null ? "" : `${name}   `}${id}${at}`;
  return [title, ...told.map((line) => `          ${line}`)];
}

function joinedShown(joined: JoinedStatus | undefined): string | undefined {
  if (!joined) return undefined;
  return joined.is_return ? "left by a folder that went back" : "joined to another project";
}

/** How many changes wait for the service. */
export function waitingShown(waiting: number): string {
  return toned("pending", `${count(waiting, "change", "changes")} waiting`);
}

/** That the service takes nothing of it, and why. */
export function refusedShown(why: string): string {
  return toned("bad", `refused by the service: ${why}`);
}
