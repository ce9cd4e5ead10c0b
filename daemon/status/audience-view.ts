import type { Kysely } from "kysely";
import { timestampOf } from "../../shared/timestamps.ts";
import { findAudience } from "../home/audience-store.ts";
import { type Remote, serviceNameOf } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";

/** Who sees what is in a remote's `global`, as `--json` prints it. */
export interface AudienceView {
  /** The remote's service, by its address. */
  readonly service: string;
  /** The account's name there; null where that is not known. */
  readonly account: string | null;
  /** How many users it has, the reader among them; null where that is not known. */
  readonly users: number | null;
  /** When the service said so; null: it was not asked yet. */
  readonly heard_at: string | null;
  /** The user knows of them, and has agreed to write for them. */
  readonly agreed: boolean;
}

/** As heard last. Null where nobody else can see it, for it is kept in the home. */
export async function readAudience(
  db: Kysely<DaemonTables>,
  remote: Pick<Remote, "url" | "account">,
): Promise<AudienceView | null> {
  if (remote.url === undefined) return null;
  const { name, users, heardAt, agreed } = await findAudience(db, remote);
  return {
    service: serviceNameOf(remote),
    account: name,
    users,
    heard_at: heardAt === undefined ? null : timestampOf(heardAt),
    agreed,
  };
}
