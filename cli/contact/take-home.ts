import { type Home, prepareHome } from "../../daemon/home/home.ts";
import { refuseNewerHome } from "../../daemon/home/open-home.ts";
import { findHolder } from "../../daemon/supervise/daemon-record.ts";
import { type Lock, takeLock } from "../../shared/sqlite/lock.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CommandFailed } from "../screen/errors.ts";
import { contactDaemon } from "./daemon-contact.ts";

/** Another process that has the lock may be starting or ending for this long. */
const TAKE_DEADLINE_MS = 10_000;
const POLL_MS = 50;

/**
 * Creates the home and takes its lock. Undefined: a daemon of it answers. Throws one sentence, with
 * nothing changed, where a newer memsync has used the home.
 */
export async function takeHome(home: Home): Promise<Lock | undefined> {
  await refuseNewerHome(home.database);
  prepareHome(home);
  const deadline = realWorld.monotonic() + TAKE_DEADLINE_MS;
  while (realWorld.monotonic() < deadline) {
    const lock = await takeLock(home.lock);
    if (lock) return lock;
    if (await contactDaemon(home)) return undefined;
    await delay(realWorld, POLL_MS);
  }
  const pid = findHolder(home)?.pid;
  const which = pid === undefined ? "" : ` (process ${pid})`;
  throw new CommandFailed(
    `another memsync process${which} holds ${home.dir} and does not answer: end it and try again`,
    { code: "daemon-silent" },
  );
}
