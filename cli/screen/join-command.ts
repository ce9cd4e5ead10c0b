import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { shellWord } from "../../shared/shell-word.ts";

/** What makes a project one with another on this machine, as another machine has. */
export function joinCommand({ id, dir }: Pick<JoinedStatus, "id" | "dir">): string {
  return `memsync link ${dir === null ? "DIR" : shellWord(dir)} --id ${id}`;
}
