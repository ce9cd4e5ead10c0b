import type { Kysely } from "kysely";
import { timestampOf } from "../../shared/timestamps.ts";
import { findAudience } from "../home/audience-store.ts";
import { findFormerService } from "../home/former-service.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { type Remote, serviceNameOf } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";

/** Who can read a remote's `global`, as `--json` prints it. */
export interface AudienceView {
  /** The remote's service, by its address. */
  readonly service: string;
  /** The account's name there; null where that is not known. */
  readonly account: string | null;
  /** How many users it has, the reader included; null where that is unknown. */
  readonly users: number | null;
  /** When this was true: the service told it, or would have told a change. Null: not told yet. */
  readonly heard_at: string | null;
  /** The user has agreed to write for these readers. */
  readonly agreed: boolean;
  /** `MEMSYNC_URL` does not name it now, so that nothing is sent there before it does. */
  readonly former?: true;
}

/**
 * As last told. Null where nobody else can read it, because it stays in the home. What a home has
 * that was synced with a service by `MEMSYNC_URL` is sent there again once that is set, so that its
 * readers are that service's without it, too. `currentAt`: when it is known to be still so, in
 * milliseconds since the Unix epoch.
 */
export async function readAudience(
  db: Kysely<DaemonTables>,
  { url: named, account }: Pick<Remote, "url" | "account">,
  currentAt?: number,
): Promise<AudienceView | null> {
  const isFollowed = named === undefined && account === LOCAL_ACCOUNT;
  const url = isFollowed ? await findFormerService(db) : named;
  if (url === undefined) return null;
  const remote = { url, account };
  const { name, users, heardAt: toldAt, agreed } = await findAudience(db, remote);
  const heardAt = toldAt === undefined ? undefined : Math.max(toldAt, currentAt ?? 0);
  return {
    service: serviceNameOf(remote),
    account: name,
    users,
    heard_at: heardAt === undefined ? null : timestampOf(heardAt),
    agreed,
    ...(isFollowed && { former: true }),
  };
}
