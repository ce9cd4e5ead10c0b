import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { IS_ON_POSTGRES } from "./host-address.ts";

/**
 * The address of a service, until the end, that limits requests by the clock of `limitedBy`, or not
 * at all: the emulator, or a server on a PostgreSQL. One alone: what others have charged shows in
 * an answer that costs nothing within a second of the clock, which may stand still here.
 */
export async function startLimited(limitedBy: World | undefined): Promise<string> {
  if (IS_ON_POSTGRES) {
    const { startOnPostgres } = await import("./service-on-postgres.ts");
    const { urls } = await startOnPostgres(1, limitedBy);
    return urls[0] ?? "";
  }
  const world = limitedBy ?? realWorld;
  const limits = limitedBy ? "on" : "off";
  return (await startEmulator({ limits }, { world, log: silentLog })).url;
}
