import type { Kysely } from "kysely";
import { type Home, homeOf } from "../../daemon/home/home.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { InboxWrite } from "../../daemon/inbox/inbox.ts";
import { isOfOthers } from "../../daemon/remotes/unkept-variable.ts";
import { digestOfToken } from "../../daemon/service/token-digest.ts";
import type { AnotherToken } from "../../daemon/supervise/introduction.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { contactDaemon } from "../contact/daemon-contact.ts";
import { noteSaid } from "../contact/unused-variables.ts";
import { readEnvironment } from "../place/environment.ts";
import { unkeptHere, unkeptShown } from "../place/unkept-variable.ts";
import { CommandFailed } from "../screen/errors.ts";

/** A daemon that has just begun with a new token has heard by then whose it is. */
const HEARD_MS = 2000;
const LOOK_MS = 100;

/** The shell is not that of the home's user. Nothing was written. */
class OfOthers extends CommandFailed {}

/** Tries a write again for a moment, while the daemon asks whose the shell's token is. */
export async function onceHeard<Result>(home: Home, write: () => Promise<Result>): Promise<Result> {
  const deadline = realWorld.monotonic() + HEARD_MS;
  for (;;) {
    try {
      return await write();
    } catch (thrown) {
      if (!(thrown instanceof OfOthers)) throw thrown;
      if (realWorld.monotonic() > deadline || !(await isAsking(home))) throw thrown;
    }
    await delay(realWorld, LOOK_MS);
  }
}

async function isAsking(home: Home): Promise<boolean> {
  const token = process.env.MEMSYNC_TOKEN?.trim();
  const daemon = token && (await contactDaemon(home, HEARD_MS));
  return !!daemon && daemon.introduction.service?.token === digestOfToken(token);
}

/**
 * Finds out whether the running daemon has another's token. Only for a shell without one, which
 * means what the daemon has. Undefined: nobody knows of that.
 */
export async function findOthersDaemon(home: Home): Promise<AnotherToken | undefined> {
  if (process.env.MEMSYNC_TOKEN?.trim() || homeOf(process.env).dir !== home.dir) return undefined;
  return (await contactDaemon(home))?.introduction.service?.another;
}

/** A write, and what `findOthersDaemon` has found. */
interface JudgedWrite extends Pick<InboxWrite, "document" | "account"> {
  readonly daemon: AnotherToken | undefined;
}

/**
 * Refuses what a shell with another's token, or another service, would write to `user` or `global`:
 * it would become that of the home's user, and replace what that one has. A shell that names none
 * is of the daemon's user.
 */
export async function refuseOthers(
  home: Home,
  db: Kysely<DaemonTables>,
  { document, account = LOCAL_ACCOUNT, daemon }: JudgedWrite,
): Promise<void> {
  const layer = layerOf(document);
  // The demonstration's homes have a service of their own.
  if (layer === "project" || homeOf(process.env).dir !== home.dir) return;
  if (daemon?.account === account) {
    noteSaid();
    throw new CommandFailed(
      `nothing in ${layer} was changed, for the running daemon was not started as the home's ` +
        `user: ${daemon.message}. \`memsync stop\`, then \`memsync start\` in that user's shell`,
      { code: "forbidden" },
    );
  }
  const unkept = await unkeptHere(readEnvironment(process.env), db);
  if (!unkept || !isOfOthers(unkept, account)) return;
  const { detail, mend } = unkeptShown(unkept);
  noteSaid();
  throw new OfOthers(`${detail}, so nothing in ${layer} was changed: ${mend}`, {
    code: "forbidden",
  });
}
