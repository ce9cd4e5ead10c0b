import type { Kysely } from "kysely";
import { EMBEDDED, nameOfUrl } from "../../daemon/home/remote.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findUnkept, type Unkept } from "../../daemon/remotes/unkept-variable.ts";
import type { Environment } from "./environment.ts";
import { remoteEnvironment } from "./remote-environment.ts";

/** Finds it for this shell. Throws one sentence for a malformed variable. */
export async function unkeptHere(
  env: Environment,
  db: Kysely<DaemonTables>,
): Promise<Unkept | undefined> {
  return await findUnkept(db, env.home, remoteEnvironment(env));
}

/** What a shell's variable is, and what to do about it. */
interface UnkeptWords {
  readonly code: Unkept["code"];
  readonly detail: string;
  readonly mend: string;
}

/** Says of this shell what was found. */
export function unkeptShown(unkept: Unkept): UnkeptWords {
  switch (unkept.code) {
    case "no-service":
      return {
        code: unkept.code,
        detail: forgottenShown(unkept.synced),
        mend: forgottenMend(unkept.synced),
      };
    case "unknown-service":
      return {
        code: unkept.code,
        detail: "MEMSYNC_URL is an address here that is no remote of this home's",
        mend: "nothing of what is here goes there, so unset it, or run `memsync login` to add it",
      };
    case "another-service":
      return {
        code: unkept.code,
        detail: `MEMSYNC_URL is another here than this home's service until now, ${unkept.synced}`,
        mend:
          "a daemon that is started here takes everything to the other one, if the token is of " +
          "the same user there: unset it, or set MEMSYNC_HOME to another folder, if that is " +
          "not meant",
      };
    case "another-token":
      return anotherToken(unkept);
  }
}

/** That a shell does not name the service that its home was synced with. */
export function forgottenShown(synced: string): string {
  return `MEMSYNC_URL is unset here, and this home was synced with ${synced} until now`;
}

/** What to do about it, where nothing is sent meanwhile. */
export function forgottenMend(synced: string): string {
  return (
    "what is here goes there once it is set again: set it and start anew, or " +
    `\`memsync login --url ${synced}\` keeps it for all shells, or ${leaveShown(synced)}`
  );
}

/** How to be told no more of a service that a home was synced with by `MEMSYNC_URL`. */
export function leaveShown(synced: string): string {
  return `\`memsync remote rm ${nameOfUrl(synced, [EMBEDDED])}\` leaves it for good`;
}

function anotherToken({
  code,
  remote,
  user,
}: Extract<Unkept, { code: "another-token" }>): UnkeptWords {
  const whose = user === null ? "the one that" : `${user}'s, which`;
  return {
    code,
    detail: `MEMSYNC_TOKEN is another token here than ${whose} this home has for ${remote.name}`,
    mend:
      user === null
        ? "unset it, if it is not a new one"
        : `what is here is ${user}'s, so unset it, or, for another user, set MEMSYNC_HOME to ` +
          `another folder; if it is a new one of ${user}'s, \`memsync stop\`, then ` +
          "`memsync start` here, tell this home so",
  };
}
