import { createEmulatorApp } from "../../server/emulator/emulator-app.ts";
import type { Log } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { createCalls } from "../service/http-service.ts";
import type { Service } from "../service/service.ts";

export { HostAdmin } from "../../server/accounts/host-admin.ts";
export { type Belongings, HostRemoval } from "../../server/accounts/host-removal.ts";
// With `emulator-program.ts` the only place from which the daemon and the command line reach the
// server's start and backup.
export { backUp } from "../../server/backup/back-up.ts";
export { beginNewEpoch } from "../../server/backup/new-epoch.ts";
export { restore } from "../../server/backup/restore.ts";
export { copyDatabase } from "../../server/copy/copy-database.ts";
export { runServer } from "../../server/main.ts";
export {
  databasePath,
  type GivenSettings,
  type ReadSettings,
  readSettings,
  SettingsError,
  shownDatabase,
} from "../../server/settings/read-settings.ts";
export {
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  variableOf,
} from "../../server/settings/setting.ts";
export type { TokenRecord } from "../../server/stores/account-store.ts";
export type { HostDatabase } from "../../server/stores/host-database.ts";
export { isServed } from "../../server/stores/host-lock.ts";
export { openAnyDatabase, worldOfDatabase } from "../../server/stores/open-any.ts";
export { hostSchema, openHostDatabase } from "../../server/stores/open-store.ts";

const BASE = "http://localhost";

/**
 * The service for people who configured none: the emulator's app, called in this process, with its
 * data in the home. It has no port, so only this daemon can reach it.
 *
 * ```
 * const service = await openEmbeddedService(home.service, world, log);
 * ```
 */
export async function openEmbeddedService(path: string, world: World, log: Log): Promise<Service> {
  const emulator = await createEmulatorApp({
    path,
    plan: "pro",
    limits: "off",
    world,
    log,
    loopbackOnly: true,
  });
  return {
    name: "embedded",
    ...createCalls({
      send: (request) => emulator.app.fetch(request),
      base: BASE,
      token: "mst_dev_pro",
      world,
    }),
    close: () => emulator.close(),
  };
}
