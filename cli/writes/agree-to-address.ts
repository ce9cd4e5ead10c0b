import { describeMoved, findAtOther } from "../../daemon/remotes/moved-service.ts";
import type { ToldOwner } from "../../daemon/remotes/others-token.ts";
import { plannedRemotes } from "../../daemon/remotes/remote-book.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { confirm, isTerminal } from "../screen/ask.ts";
import { CommandFailed } from "../screen/errors.ts";

/** A login by a remote's name. */
interface NamedLogin {
  readonly name: string | undefined;
  readonly url: string;
  readonly told: ToldOwner | undefined;
  /** Answers the question with yes. */
  readonly yes: boolean;
}

/**
 * Asks before a remote gets another address, and names both; `--yes` answers in advance. Throws
 * without a yes, and where the token is known to be of another. Resolves to the address that is
 * left; undefined: there is none of that name at another address.
 */
export async function agreeToAddress(
  env: Environment,
  { name, url, told, yes }: NamedLogin,
): Promise<string | undefined> {
  const options = { world: realWorld, environment: remoteEnvironment(env) };
  const moved = await withLocal(env, async (db) => {
    const remote = db && findAtOther(await plannedRemotes(db, options), { name, url });
    return remote && (await describeMoved(db, { remote, url, told }));
  });
  if (!moved) return undefined;
  const { both, from, refusal } = moved;
  if (refusal !== undefined) throw new CommandFailed(refusal);
  if (yes) return from;
  const asked = `${both}. Is it the same service, at another address?`;
  const then = `everything that is bound to ${name} goes to ${url}`;
  if (!isTerminal()) {
    const mend = `with --yes, ${then}`;
    throw new CommandFailed(`nothing was changed: ${asked} Then, ${mend}`, { code: "needs-yes" });
  }
  if (await confirm(`${asked} Then ${then}.`)) return from;
  throw new CommandFailed("nothing was changed", { code: "declined" });
}
