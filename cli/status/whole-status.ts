import type { DaemonStatus } from "../../daemon/status/status.ts";
import { listConflicts } from "../local/local-conflicts.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";

/** The daemon's status, and what the replica adds: what `--json` prints. */
export interface WholeStatus extends DaemonStatus {
  /** How many losing versions there are. */
  readonly conflicts: number;
}

export async function wholeStatus(env: Environment, status: DaemonStatus): Promise<WholeStatus> {
  const conflicts = await withLocal(env, async (db) => (db ? await listConflicts(db) : []));
  return { ...status, conflicts: conflicts.length };
}

/** The status line about conflicts, if there are any. */
export function conflictCountLines({ conflicts }: Pick<WholeStatus, "conflicts">): string[] {
  const shows = conflicts === 1 ? "shows it" : "shows them";
  return conflicts > 0 ? [`conflicts ${conflicts}: \`memsync conflicts\` ${shows}`] : [];
}
