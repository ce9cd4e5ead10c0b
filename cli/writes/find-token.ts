import { openKeyring } from "../../daemon/remotes/keyring.ts";
import type { ListedRemote } from "../../daemon/remotes/remote-change.ts";
import { TokenStore } from "../../daemon/remotes/token-store.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { changeRemotes } from "./remote-changes.ts";

/** The token for a remote from here; undefined where there is none. */
export async function findToken(
  env: Environment,
  { name, url, token, logged_in: isKept }: ListedRemote,
): Promise<string | undefined> {
  const environment = remoteEnvironment(env);
  if (token === "environment" && environment.url === url) return environment.token;
  if (!isKept) return undefined;
  const { remote } = await changeRemotes(env, { op: "find", name });
  const keyring = openKeyring({ env: env.variables });
  const found = await new TokenStore({ home: env.home, world: realWorld, keyring }).find(remote);
  return found.kind === "found" ? found.token : undefined;
}
