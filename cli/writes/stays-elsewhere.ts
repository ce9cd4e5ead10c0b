import { findOwner, type Owner } from "../../daemon/home/former-service.ts";
import { isSameAddress, type Remote } from "../../daemon/home/remote.ts";
import { listRemotes } from "../../daemon/home/remote-store.ts";
import type { ToldOwner } from "../../daemon/remotes/others-token.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { hasAnything, stayLine } from "./move-embedded.ts";
import { listRemotesOf } from "./remote-changes.ts";

/**
 * What stays with other services when somebody logs in to a new one, a line for each, with the
 * command that brings it, or gives that service a token. Nothing is said of one that has a token
 * and is another owner's: somebody has both, and knows it.
 */
export async function staysElsewhere(
  env: Environment,
  { remote, told }: { readonly remote: Remote; readonly told: ToldOwner | undefined },
): Promise<string[]> {
  const lines: string[] = [];
  const owners = await readOwners(env);
  for (const listed of await listRemotesOf(env)) {
    const { name, url, token } = listed;
    if (name === remote.name || url === null || !hasAnything(listed)) continue;
    const isMoved = !isSameAddress(remote.url ?? "", url) && isSameOwner(owners.get(name), told);
    if (token !== null && !isMoved) continue;
    const without = token === null ? ", which has no token here" : "";
    const mend = isMoved
      ? `if it is the same service at another address, \`memsync login --url ${remote.url} ` +
        `--remote ${name}\` takes all of it there`
      : `\`memsync login --remote ${name}\` gives it one, and \`memsync link DIR --remote ` +
        `${remote.name}\` brings a project to ${remote.name}`;
    lines.push(`${stayLine(listed, `at ${name} (${url})`)}${without}: ${mend}`);
  }
  return lines;
}

/** Whose each remote's memories are, by its name, as far as it is known. */
async function readOwners(env: Environment): Promise<Map<string, Owner>> {
  return await withLocal(env, async (db) => {
    const owners = new Map<string, Owner>();
    for (const remote of db ? await listRemotes(db) : []) {
      const owner = db && (await findOwner(db, remote));
      if (owner) owners.set(remote.name, owner);
    }
    return owners;
  });
}

function isSameOwner(known: ToldOwner | undefined, told: ToldOwner | undefined): boolean {
  if (known === undefined || told === undefined || known.name === null) return false;
  return known.name === told.name && known.user === told.user;
}
