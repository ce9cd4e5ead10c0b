import { HostAdmin } from "../../../server/accounts/host-admin.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { Dice } from "../simulate/dice.ts";
import { Actions } from "./actions.ts";
import { dropDatabase, newDatabase } from "./databases.ts";
import { Ledger } from "./ledger.ts";
import { SimReplica } from "./sim-replica.ts";
import { SimServer } from "./sim-server.ts";
import { Stage } from "./stage.ts";

// Several servers on one PostgreSQL, in one process; one seed decides what happens, and in which
// order. Real: the whole program with its HTTP interface, live sockets, row writer and group
// commit, the driver, and PostgreSQL. A modelled database would have to say what its locks,
// statements and commits mean, and be wrong where the program is; the real one comes with npm.
// Simulated: time and long timers (`stepped-world.ts`), each server's way to the database
// (`wire.ts`), machines with replicas (`sim-replica.ts`). A standby that lags and a backup are
// copies of the database, which count as another incarnation.
//
// Checked after each step (`stage.ts`, `audit.ts`): nothing acknowledged is lost that the database
// has not lost, nothing refused is there; rows say what documents say; a position means one row
// and an id one item for ever, whatever was lost; live sockets are at the head, or have ended;
// frames and hints come after their commit; times are the database's. At rest all replicas are
// equal, and have what any of them ever had. `mutations.ts` lists mistakes that a seed has to
// find.
//
// One seed again, and one with a mistake: npx bun tests/trust/servers/worker.ts none 7, npx bun
// tests/trust/servers/worker.ts "a write is answered before its commit" 1

const SERVERS = 3;
const REPLICAS = 2;
const STEPS = 12;

/** What a run was, and what is wrong. */
export interface RunResult {
  readonly seed: number;
  readonly trace: readonly string[];
  readonly problems: readonly string[];
}

/** Runs what one seed says: steps, each of which is over before the next one begins. */
export async function runSeed(seed: number): Promise<RunResult> {
  const dice = new Dice(seed);
  const ledger = new Ledger();
  const address = await newDatabase();
  const servers: SimServer[] = [];
  for (let at = 0; at < SERVERS; at++) {
    servers.push(await SimServer.start(at, address, { dice, ledger }));
  }
  const replicas = Array.from({ length: REPLICAS }, (_, at) => new SimReplica(1000 + at));
  const tokens = [await newToken(servers, "acme"), await newToken(servers, "umbrella")];
  const stage = new Stage({ dice, ledger, address, servers, replicas, tokens });
  try {
    await stage.begin();
    const actions = new Actions(stage);
    for (let step = 0; step < STEPS && ledger.problems.length === 0; step++) {
      await actions.next();
      await stage.check();
    }
    if (ledger.problems.length === 0) await stage.rest();
  } catch (thrown) {
    ledger.problem(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
  }
  for (const server of servers) server.kill();
  for (const each of stage.addresses) await dropDatabase(each);
  return { seed, trace: stage.trace, problems: ledger.problems };
}

async function newToken([server]: readonly SimServer[], account: string): Promise<string> {
  if (!server) throw new Error("there is no server");
  const admin = new HostAdmin(server.host.database, realWorld);
  await admin.createAccount(account, "pro");
  const terms = { user: "ann", name: "laptop", scope: "write", projects: null } as const;
  return (await admin.createToken({ account, ...terms, expiresAt: null })).token;
}
