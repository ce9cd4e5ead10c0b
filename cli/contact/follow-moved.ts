import type { Home } from "../../daemon/home/home.ts";
import type { MovedFolder } from "../../daemon/links/linked-folders.ts";
import { sayAside } from "../screen/output.ts";
import { contactDaemon, type GatewayClient, LIVENESS_DEADLINE_MS } from "./daemon-contact.ts";

/** A daemon that is busy for longer follows the folder all the same; only nobody says so. */
const OPTIONS = { deadlineMs: LIVENESS_DEADLINE_MS };

/**
 * Tells the daemon in which folder a command works: one that is linked and was moved is followed
 * where it is, and that is said. Never rejects: the command is about something else.
 */
export async function followMoved(daemon: GatewayClient, dir: string): Promise<void> {
  const answer = await daemon
    .call("POST", "/_memsync/found", { body: { dir }, ...OPTIONS })
    .catch(() => undefined);
  const { moved } = (answer ?? {}) as { moved?: MovedFolder | null };
  if (moved) sayAside(`${moved.from} was moved to ${moved.to}, and is followed here again`);
}

/** The same where a daemon runs; without one, the next one that is told follows it. */
export async function followMovedOf(home: Home, dir: string): Promise<void> {
  const daemon = await contactDaemon(home);
  if (daemon) await followMoved(daemon, dir);
}
