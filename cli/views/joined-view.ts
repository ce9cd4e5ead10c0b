import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { realWorld } from "../../shared/world-real.ts";
import { joinedMeans, joinedTo, joinWays } from "../screen/joined-words.ts";
import { momentShown } from "../screen/output.ts";
import { toned } from "../screen/tones.ts";
import { visible } from "../screen/visible.ts";

/** Lines below a project that is linked here, of which a folder was linked to another project. */
export function joinedLines(joined: readonly JoinedStatus[], now: number): string[] {
  return joined.map((each) => {
    const told = `${joinedShown(each, now)}, and ${joinedMeans(each)}`;
    return `          ${toned("pending", told)}: ${joinWays(each)}`;
  });
}

/** What was joined to which project, by whom, and when. */
export function joinedShown(joined: JoinedStatus, now: number): string {
  return `${joinedTo(joined)}, ${momentShown(joined.at, now)}`;
}

/** What to say of a project of which somebody may believe that all machines have joined it. */
export function joinedSentence(project: string, joined: JoinedStatus): string {
  const told = joinedShown(joined, realWorld.now());
  return visible(`${project} is ${told}, and ${joinedMeans(joined)}: ${joinWays(joined)}`);
}
