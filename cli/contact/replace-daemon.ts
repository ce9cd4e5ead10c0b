import { isDeepStrictEqual } from "node:util";
import type { Home } from "../../daemon/home/home.ts";
import { ageOf, type Introduction, serviceVariables } from "../../daemon/supervise/introduction.ts";
import { ServiceManager } from "../../daemon/supervise/service-manager.ts";
import { messageOf } from "../../shared/errors.ts";
import { VERSION } from "../../shared/version.ts";
import { CommandFailed } from "../screen/errors.ts";
import { sayAside } from "../screen/output.ts";
import { contactDaemon, type GatewayClient } from "./daemon-contact.ts";
import { inStartTurn, startDaemon, startInBackground } from "./start-daemon.ts";
import { stopDaemon } from "./stop-daemon.ts";

/**
 * Replaces an older daemon by one of this version, if it runs in the background or as a service.
 * Otherwise says what to do and continues with the older one. Undefined: the older one has ended
 * and the new one did not start.
 */
export async function replaceDaemon(
  home: Home,
  daemon: GatewayClient,
): Promise<GatewayClient | undefined> {
  const { version } = daemon.introduction;
  const old = `the running daemon is memsync ${version}, older than this one, ${VERSION}`;
  const hindrance = hindranceOf(daemon.introduction);
  if (hindrance !== undefined) {
    sayAside(`${old}: ${hindrance}`);
    return daemon;
  }
  try {
    return await inStartTurn(home, async () => {
      const current = await contactDaemon(home);
      // Another command may have replaced the daemon meanwhile.
      if (current && ageOf(current.introduction) !== "older") return current;
      const next = current ? await restartDaemon(home, current) : await startDaemon(home);
      if (ageOf(next.introduction) !== "older") return next;
      sayAside(`${old}, and its service starts that one: run \`memsync install\` with this one`);
      return next;
    });
  } catch (thrown) {
    sayAside(`${old}, and could not be replaced: ${messageOf(thrown)}`);
    return await contactDaemon(home);
  }
}

/** Why this process must not replace that daemon; undefined if it may. */
function hindranceOf({ started, environment }: Introduction): string | undefined {
  if (started === "service") return undefined;
  if (started === "foreground") return "end it where it runs, and start it again";
  if (isDeepStrictEqual(environment, serviceVariables(process.env))) return undefined;
  return (
    "set MEMSYNC_URL, MEMSYNC_TOKEN and MEMSYNC_GATEWAY_PORT as when it was started, and run " +
    "`memsync restart`"
  );
}

/**
 * Ends a daemon and starts it again in the same way. Refuses if the new one would use another
 * service. The caller holds the start lock.
 */
export async function restartDaemon(home: Home, daemon: GatewayClient): Promise<GatewayClient> {
  const { started, environment } = daemon.introduction;
  if (started === "foreground") {
    throw new CommandFailed("the daemon runs in the foreground: end it there, and start it again");
  }
  if (started === "service") return await restartService(home, daemon);
  if (!isDeepStrictEqual(environment, serviceVariables(process.env))) {
    const was = `MEMSYNC_URL ${environment.url ?? "unset"}`;
    const token = `MEMSYNC_TOKEN ${environment.has_token ? "set" : "unset"}`;
    const port = `MEMSYNC_GATEWAY_PORT ${environment.gateway_port ?? "unset"}`;
    throw new CommandFailed(
      `the daemon was started with ${was}, ${token} and ${port}: set them so again, or run ` +
        "`memsync stop` and `memsync start` to change that",
    );
  }
  await stopDaemon(home, daemon);
  return await startInBackground(home);
}

async function restartService(home: Home, daemon: GatewayClient): Promise<GatewayClient> {
  await stopDaemon(home, daemon);
  const manager = new ServiceManager(home, process.env);
  const trouble = manager.isInstalled() ? await manager.trouble() : "no service is installed";
  if (trouble !== undefined) throw new CommandFailed(`its service can't be started: ${trouble}`);
  return await startDaemon(home);
}
