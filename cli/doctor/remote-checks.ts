import { findAudience } from "../../daemon/home/audience-store.ts";
import {
  EMBEDDED,
  type Remote,
  type RemoteEnvironment,
  UNKNOWN_SERVICE,
} from "../../daemon/home/remote.ts";
import { listBindings } from "../../daemon/home/remote-store.ts";
import { openKeyring } from "../../daemon/remotes/keyring.ts";
import { whyOthers } from "../../daemon/remotes/others-token.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import { TokenStore } from "../../daemon/remotes/token-store.ts";
import { messageOf } from "../../shared/errors.ts";
import { asAccountId } from "../../shared/ids.ts";
import type { Account } from "../../shared/wire/account.ts";
import { realWorld } from "../../shared/world-real.ts";
import { UNUSED_TOKEN } from "../lifecycle/shell-service.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { type Finding, noted } from "./finding.ts";
import { checkService, type ServiceFindings } from "./service-checks.ts";

/** A remote to check, with the environment's token for it. */
interface Asked {
  readonly remote: Remote;
  readonly token: string | undefined;
}

/** The findings about remotes. */
export interface RemoteFindings {
  readonly findings: readonly Finding[];
  /** The names of those whose token may only read. */
  readonly readOnly: ReadonlySet<string>;
  /** The names of those of which something is wrong. */
  readonly wrong: ReadonlySet<string>;
}

/** Checks the default remote, and every other to which a project is bound. */
export async function checkRemotes(env: Environment): Promise<RemoteFindings> {
  const readOnly = new Set<string>();
  const wrong = new Set<string>();
  let asked: Asked[];
  try {
    asked = await remotesInUse(env);
  } catch (thrown) {
    const mend = "set MEMSYNC_URL and MEMSYNC_TOKEN right, or `memsync login`";
    return { findings: [noted("service-unset", messageOf(thrown), mend)], readOnly, wrong };
  }
  const findings: Finding[] = [];
  for (const each of asked) {
    const { name } = each.remote;
    const found = await checkRemote(env, each).catch((thrown): ServiceFindings => {
      return only(noted("token-failed", messageOf(thrown), `memsync login --remote ${name}`));
    });
    if (found.isReadOnly) readOnly.add(name);
    if (found.findings.some(({ state }) => state === "wrong")) wrong.add(name);
    const at = asked.length > 1 ? `${name}: ` : "";
    findings.push(
      ...found.findings.map((finding) => ({ ...finding, detail: at + finding.detail })),
    );
  }
  return { findings, readOnly, wrong };
}

function only(...findings: Finding[]): ServiceFindings {
  return { findings, isReadOnly: false };
}

async function remotesInUse(env: Environment): Promise<Asked[]> {
  const environment = remoteEnvironment(env);
  // A database that can't be read is a finding of its own.
  const asked = await remotesIn(env, environment).catch(() => []);
  const { url, token } = environment;
  const isThere = asked.some(({ remote }) => remote.url === url);
  if (asked.length > 0 && (url === undefined || isThere)) return asked;
  return [{ remote: unnamed(url), token }, ...asked];
}

async function remotesIn(env: Environment, environment: RemoteEnvironment): Promise<Asked[]> {
  return await withLocal(env, async (db) => {
    if (!db) return [];
    const view = await readRemotes(db, environment);
    const bound = new Set((await listBindings(db)).values());
    return view.remotes
      .filter((remote) => remote === view.default || bound.has(remote.account))
      .map((remote) => {
        return { remote, token: remote === view.default ? environment.token : undefined };
      });
  });
}

/** The environment's service, which has no name in the home. */
function unnamed(url: string | undefined): Remote {
  const name = url ?? EMBEDDED;
  return { name, url, account: asAccountId(""), tokenPlace: undefined, isDefault: true };
}

function embeddedFindings({ home }: Environment, token: string | undefined): ServiceFindings {
  const found = noted("service-embedded", `embedded, kept in ${home.dir}`);
  return token === undefined
    ? only(found)
    : only(found, noted("token-unused", UNUSED_TOKEN.detail, UNUSED_TOKEN.mend));
}

async function checkRemote(env: Environment, { remote, token }: Asked): Promise<ServiceFindings> {
  const { url, name } = remote;
  if (url === undefined) return embeddedFindings(env, token);
  if (url === UNKNOWN_SERVICE) {
    const detail = "a damaged database did not tell the service of what is bound to this";
    return only(
      noted("service-lost", detail, "memsync link DIR --remote NAME, for each of its projects"),
    );
  }
  const known = await withLocal(env, async (db) => db && (await findAudience(db, remote)));
  const judge = (told: Account) => known && ofAnother({ name, url }, { known, told, token });
  if (token !== undefined) return await checkService(url, token, { judge });
  const keyring = openKeyring({ env: env.variables });
  const found = await new TokenStore({ home: env.home, world: realWorld, keyring }).find(remote);
  if (found.kind !== "locked") {
    const login = remote.isDefault ? undefined : `memsync login --remote ${name}`;
    const kept = found.kind === "found" ? found.token : undefined;
    return await checkService(url, kept, { login, judge });
  }
  const mend = `unlock it, or run \`memsync login --remote ${name}\``;
  return only(noted("token-locked", `the keyring does not give the token of ${url}`, mend));
}

/** A daemon refuses such a token before it sends anything. */
function ofAnother(
  remote: { readonly name: string; readonly url: string },
  {
    known,
    told,
    token,
  }: { readonly known: Account; readonly told: Account; readonly token: string | undefined },
): Finding | undefined {
  const what = token === undefined ? "the token" : "MEMSYNC_TOKEN";
  const why = whyOthers(remote, known, { token: what, told });
  return why && noted(why.code, why.detail, why.mend);
}
