import { type Home, homeOf } from "../../daemon/home/home.ts";
import { ageOf, type Introduction, PROTOCOL } from "../../daemon/supervise/introduction.ts";
import { VERSION } from "../../shared/version.ts";
import { CommandFailed } from "../screen/errors.ts";
import { sayAside } from "../screen/output.ts";
import { contactDaemon, type GatewayClient } from "./daemon-contact.ts";
import { replaceDaemon } from "./replace-daemon.ts";
import { sayNote, unusedHere } from "./unused-variables.ts";

export type { GatewayClient } from "./daemon-contact.ts";

/**
 * The daemon of this home, if one answers. Replaces an older one first, if this process can start
 * it again. Throws a `CommandFailed` with advice for one with an unknown protocol.
 */
export async function findDaemon(
  home: Home,
  deadlineMs?: number,
): Promise<GatewayClient | undefined> {
  const daemon = await contactDaemon(home, deadlineMs);
  if (!daemon) return undefined;
  const age = ageOf(daemon.introduction);
  if (age === "older") return await replaceDaemon(home, daemon);
  if (age === "newer") refuseOrTell(daemon.introduction);
  // False for the demonstration's homes, whose daemons have a service of their own.
  const isOfShell = homeOf(process.env).dir === home.dir;
  if (isOfShell) for (const note of unusedHere(process.env, daemon.introduction)) sayNote(note);
  return daemon;
}

function refuseOrTell({ version, protocol }: Introduction): void {
  const sentence = `the running daemon is memsync ${version}, newer than this one, ${VERSION}`;
  if (protocol > PROTOCOL) {
    throw new CommandFailed(
      `${sentence}: update this memsync, or end the daemon by \`memsync stop\``,
    );
  }
  sayAside(`${sentence}: update this memsync`);
}
