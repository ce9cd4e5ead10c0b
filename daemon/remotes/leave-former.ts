import { AppError } from "../../shared/errors.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { findFormerService } from "../home/former-service.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { EMBEDDED, nameOfUrl, type Remote, type RemoteEnvironment } from "../home/remote.ts";
import { insertRemote } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";

/**
 * Leaves the service for good with which a home was synced by `MEMSYNC_URL`: what is in the home
 * stays in the embedded service, which becomes the only named one, so that no variable takes it
 * anywhere. Undefined, and nothing is changed: it is not of this name, or the home's remotes have
 * names.
 */
export async function leaveFormer(
  { db, now }: WriteContext<DaemonTables>,
  { url: named }: RemoteEnvironment,
  name: string,
): Promise<Remote | undefined> {
  const url = await findFormerService(db);
  if (url === undefined || nameOfUrl(url, [EMBEDDED]) !== name) return undefined;
  if (named !== undefined) {
    throw new AppError(
      "invalid_request",
      "MEMSYNC_URL is set, and everything here follows it: unset it, and stop a daemon that was " +
        "started with it, first",
    );
  }
  await insertRemote(db, { name: EMBEDDED, url: undefined, account: LOCAL_ACCOUNT }, now);
  return { name, url, account: LOCAL_ACCOUNT, tokenPlace: undefined, isDefault: true };
}
