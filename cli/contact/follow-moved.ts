import type { Home } from "../../daemon/home/home.ts";
import type { MovedFolder } from "../../daemon/links/linked-folders.ts";
import { sayAside } from "../screen/output.ts";
import { contactDaemon, type GatewayClient, LIVENESS_DEADLINE_MS } from "./daemon-contact.ts";

/** A daemon that takes longer follows the folder anyway; only the message is missing then. */
const OPTIONS = { deadlineMs: LIVENESS_DEADLINE_MS };

/**
 * Tells the daemon the folder of a command. If it is a linked folder that was moved, it is followed
 * at its new path, and that is said. Never rejects: the command is about something else.
 */
export async function followMoved(daemon: GatewayClient, dir: string): Promise<void> {
  const answer = await daemon
    .call<{ moved?: MovedFolder | null }>("POST", "/_memsync/found", { body: { dir }, ...OPTIONS })
    .catch(() => undefined);
  const moved = answer?.moved;
  if (moved) sayAside(`${moved.from} was moved to ${moved.to}, and is followed here again`);
}

/** The same for a daemon that may not run. Without one, the next one that is told follows it. */
export async function followMovedOf(home: Home, dir: string): Promise<void> {
  const daemon = await contactDaemon(home);
  if (daemon) await followMoved(daemon, dir);
}
