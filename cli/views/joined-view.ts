import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { realWorld } from "../../shared/world-real.ts";
import { joinedTo, joinWays } from "../screen/joined-words.ts";
import { momentShown } from "../screen/output.ts";
import { toned } from "../screen/tones.ts";
import { visible } from "../screen/visible.ts";

/** Lines below a project that is linked here, of which a folder was linked to another project. */
export function joinedLines(joined: readonly JoinedStatus[], now: number): string[] {
  return joined.map((each) => {
    const told = `joined to ${joinedShown(each, now)}, and what is written here does not get there`;
    return `          ${toned("pending", told)}: ${joinWays(each)}`;
  });
}

/** Which project it is, and who has linked a folder to it, and when. */
export function joinedShown(joined: JoinedStatus, now: number): string {
  return `${joinedTo(joined)}, ${momentShown(joined.at, now)}`;
}

/** What to say of a project of which somebody may believe that all machines have joined it. */
export function joinedSentence(project: string, joined: JoinedStatus): string {
  const to = joinedShown(joined, realWorld.now());
  const here = "what is written here does not get there";
  return visible(`${project} is joined to ${to}, and ${here}: ${joinWays(joined)}`);
}
