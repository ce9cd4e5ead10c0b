import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { createHostApp } from "../../server/host-app.ts";
import { Readiness } from "../../server/operations/readiness.ts";
import { openPostgresStore } from "../../server/stores/open-postgres-store.ts";
import { messageOf } from "../../shared/errors.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";

/** Whoever has it may read the figures of a server that is opened here. */
export const METRICS_TOKEN = "a-token-for-the-metrics";

/** A server without a port, what it logs as errors, and what it answers to a token's user. */
export async function openHost(path: string, known?: string) {
  const logged: object[] = [];
  const log: Log = { ...silentLog, error: (fields) => void logged.push(fields) };
  const operated = { readiness: new Readiness("ready"), metricsToken: METRICS_TOKEN };
  const host = await createHostApp({ path, world: realWorld, log, loopbackOnly: true, operated });
  const newToken = async (account: string) => {
    const admin = new HostAdmin(host.database, realWorld);
    await admin.createAccount(account, "team");
    const terms = { account, user: "ann", name: "laptop", scope: "write" } as const;
    return (await admin.createToken({ ...terms, projects: null, expiresAt: null })).token;
  };
  const token = known ?? (await newToken("acme"));
  const ask = (at: string, body?: object, by = token) =>
    host.app.fetch(
      new Request(`http://127.0.0.1${at}`, {
        headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      }),
    );
  return {
    ...host,
    logged,
    token,
    newToken,
    ask,
    /** Writes a memory for all of the account. */
    write: (key: string, by = token) =>
      ask("/v1/memories", { key, content: key, layer: "global" }, by),
    async keys(by = token): Promise<string[]> {
      return keysOf(await ask("/v1/memories?layer=global", undefined, by));
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** The keys of the memories that an answer has. */
export async function keysOf(answer: Response): Promise<string[]> {
  // A list of memories, as the interface describes it.
  const { memories } = (await answer.json()) as { readonly memories: readonly { key: string }[] };
  return memories.map(({ key }) => key);
}

/** A server without a port, and what it says at /readyz. */
export async function openReady(path: string) {
  const reasons: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (fields) => void ("reason" in fields && reasons.push(`${fields.reason}`)),
  };
  const host = await createHostApp({
    path,
    world: realWorld,
    log,
    loopbackOnly: true,
    operated: { readiness: new Readiness("ready"), metricsToken: undefined },
  });
  return {
    /** What the log said of the database, in order. */
    reasons,
    async status() {
      return (await host.app.fetch(new Request("http://127.0.0.1/readyz"))).status;
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** The sentence with which an address is refused. */
export async function refusal(address: string | URL): Promise<string> {
  try {
    await (await openPostgresStore(`${address}`, realWorld)).close();
  } catch (thrown) {
    return messageOf(thrown);
  }
  return "it was opened";
}
