import { contactDaemon } from "../contact/daemon-contact.ts";
import { hasSaidNote, sayNote } from "../contact/unused-variables.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { unkeptHere, unkeptShown } from "../place/unkept-variable.ts";
import { QUIET_COMMANDS } from "./quiet-commands.ts";

/** These say it themselves, begin or end the use of the variables, or are about them. */
const QUIET = [...QUIET_COMMANDS, "start", "stop", "restart", "doctor", "install", "login"];

/**
 * Says on standard error, at the end of any other command, that its shell names another token or
 * service than the home keeps, unless it was said of the running daemon's already.
 */
export async function sayUnkept(env: Environment, args: readonly string[]): Promise<void> {
  const [command = ""] = args;
  if (command === "" || QUIET.includes(command) || hasSaidNote()) return;
  // A home that can't be read, and a malformed variable, are said by what needs them.
  const unkept = await withLocal(env, async (db) => db && (await unkeptHere(env, db))).catch(
    () => undefined,
  );
  if (!unkept) return;
  if (unkept.code === "no-service") {
    // A shell that sets nothing means what the running daemon has, if that has a service.
    const daemon = await contactDaemon(env.home);
    if (daemon && daemon.introduction.environment.url !== null) return;
  }
  sayNote(unkeptShown(unkept));
}
