import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { count } from "./output.ts";

/**
 * That a project was joined to another one, or that folders of another one have gone back; without
 * a subject, as is what follows of it.
 */
export function joinedTo({ id, name, machine, here, is_return: isReturn }: JoinedStatus): string {
  const by = machine === null ? "" : ` on ${machine}`;
  const what = `${name === null ? id : `${name} (${id})`}${here ? " on this machine" : by}`;
  return `${isReturn ? "no more joined by" : "joined to"} ${what}`;
}

/** What that means for who goes on as before. */
export function joinedMeans({ is_return: isReturn, is_deleted: isDeleted }: JoinedStatus): string {
  if (isDeleted) return "was deleted since";
  return isReturn ? "what is written here does not get there any more" : NOT_THERE;
}

const NOT_THERE = "what is written here does not get there";

/** How to join the two projects here as well, and how to leave them as they are. */
export function joinWays(joined: JoinedStatus): string {
  const { id, from, dirs, is_return: isReturn, is_deleted: isDeleted, is_left: isLeft } = joined;
  const [first, ...others] = dirs;
  const link = `memsync link ${first === undefined ? "DIR" : shellWord(first)} --id`;
  const more = others.length === 0 ? "" : ` (and so ${othersShown(others)})`;
  const back =
    first === undefined ? "takes back a folder that has followed" : "takes it back there";
  const joins = isLeft ? "joins it again" : "joins it here, too";
  const does = isReturn ? back : joins;
  if (isDeleted) return `\`${link} ${id}\` ${does}${more}, with what was not sent`;
  const stays = isLeft ? "ends that for every machine" : "leaves it as it is";
  const leaves = isReturn ? "leaves it here" : stays;
  return `\`${link} ${id}\` ${does}${more}; \`${link} ${from}\` ${leaves}`;
}

function othersShown([next, ...others]: readonly string[]): string {
  const shown = next === undefined ? "" : shellWord(next);
  return others.length === 0 ? shown : `${shown} and ${count(others.length, "other", "others")}`;
}
