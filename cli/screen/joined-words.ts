import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { count } from "./output.ts";

/** Which project another one was joined to, and where. */
export function joinedTo({ id, name, machine, here }: JoinedStatus): string {
  const by = machine === null ? "" : ` on ${machine}`;
  return `${name === null ? id : `${name} (${id})`}${here ? " on this machine" : by}`;
}

/** How to join the two projects here as well, and how to leave them as they are. */
export function joinWays({ id, from, dirs: [first, ...others] }: JoinedStatus): string {
  const link = `memsync link ${first === undefined ? "DIR" : shellWord(first)} --id`;
  const more = others.length === 0 ? "" : ` (and so ${othersShown(others)})`;
  return `\`${link} ${id}\` joins it here, too${more}; \`${link} ${from}\` leaves it as it is`;
}

function othersShown([next, ...others]: readonly string[]): string {
  const shown = next === undefined ? "" : shellWord(next);
  return others.length === 0 ? shown : `${shown} and ${count(others.length, "other", "others")}`;
}
