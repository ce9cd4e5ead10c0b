/** What a session's settings say about whether everything that it writes is done and kept. */
export interface Reliance {
  readonly durable: string;
  readonly syncs: boolean;
  readonly role: string;
}

/** The columns of a `Reliance`. */
export const RELIANCE = `current_setting('synchronous_commit') AS durable,
  current_setting('fsync') = 'on' AS syncs, current_setting('session_replication_role') AS role`;

/** Why what is written with these settings can't be relied on, in a sentence. */
export function relianceProblem({ durable, syncs, role }: Reliance): string | undefined {
  if (durable === "off") {
    const early = "the database acknowledges before anything is on its disk";
    return `${early} (synchronous_commit = off): ${TAKE_BACK}`;
  }
  // There may be a synchronous standby later, even if there is none now.
  if (durable === "local") {
    const early = "the database acknowledges before a synchronous standby has anything";
    return `${early} (synchronous_commit = local): ${TAKE_BACK}`;
  }
  if (!syncs) {
    return (
      "the database acknowledges what its disk may not have (fsync = off): take that setting " +
      "back in its server's configuration"
    );
  }
  // Such a session runs no triggers. Without them nobody hears that a token is revoked, and a long
  // key is not written to the column that searches read.
  if (role !== "origin") {
    return `the database leaves out triggers (session_replication_role = ${role}): ${TAKE_BACK}`;
  }
  return undefined;
}

const TAKE_BACK = "take that setting back, of the server, the database, the user or the address";
