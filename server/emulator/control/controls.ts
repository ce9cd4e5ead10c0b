import { type AccountId, type ProjectId, parseProjectId } from "../../../shared/ids.ts";
import { timestampOf } from "../../../shared/timestamps.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import type { RequestLimits } from "../../limits/request-limits.ts";
import type { LiveSockets } from "../../live/live-sockets.ts";
import type { ServiceStore } from "../../services/service-store.ts";
import type { Services } from "../../services/services.ts";
import type { HostStore } from "../../stores/open-store.ts";
import { deleteCounts } from "../../stores/request-count-store.ts";
import type { FaultRules } from "../faults/fault-rules.ts";
import type {
  Cleared,
  ClockMoved,
  ClockReading,
  EmulatorClock,
  EmulatorControls,
  EmulatorTokenRequest,
  MadeToken,
  ResetScope,
} from "../interface/emulator.ts";
import type { OfToken } from "../interface/of-token.ts";
import type { Recording } from "../journal/recording.ts";
import { accountOfName } from "../state/dev-tokens.ts";
import { deleteData } from "../state/reset-data.ts";
import { exportAccount, seedAccount } from "../state/seeding.ts";
import type { Snapshots } from "../state/snapshots.ts";
import type { TagEpochs } from "../state/tag-epochs.ts";
import type { DrivenWorlds } from "../time/driven-world.ts";
import { parseDuration, parseTime } from "../time/parse-time.ts";
import { clearFaults, createFaultControls } from "./fault-controls.ts";
import {
  clearRequests,
  createRequestControls,
  createViolationControls,
  type SeenParts,
} from "./request-controls.ts";

/** What the controls move. */
export interface ControlledParts extends SeenParts {
  readonly driven: DrivenWorlds;
  readonly host: HostStore;
  readonly services: Services;
  /** The same operations over another store. */
  readonly servicesOf: (store: ServiceStore) => Services;
  readonly snapshots: Snapshots;
  readonly limits: RequestLimits;
  readonly sockets: LiveSockets;
  readonly faults: FaultRules;
  readonly tags: TagEpochs;
  /** Resolves when what has come by now is answered: it is done before what is asked now. */
  rest(): Promise<void>;
  readonly recording: Pick<Recording, "forgetWaits" | "lifted" | "takenBack">;
}

/** Why sockets are closed whose client has to read everything anew. */
const FORGOTTEN = "the emulator was reset";

const ACCOUNT_NAME = /^[0-9A-Za-z_-]{1,64}$/;

/**
 * What tests may do to an emulator, in its own process.
 *
 * ```
 * await controls.reset({ scope: "data", token: "mst_dev_w1" });
 * ```
 */
export function createControls(parts: ControlledParts): EmulatorControls {
  const { driven, accounts, limits } = parts;
  return {
    clock: createClock(parts),
    async reset(options = {}) {
      await parts.rest();
      return await reset(parts, options);
    },
    faults: createFaultControls(parts),
    requests: createRequestControls(parts),
    violations: createViolationControls(parts),
    ...createStateControls(parts),
    random: (seed) => driven.seed(seed === null ? undefined : String(seed)),
    limits: {
      async set({ token, plan, off, exhaust, left }) {
        const caller = token === undefined ? undefined : accounts.get(token);
        if (exhaust !== undefined && !caller) {
          throw refusedAt("token", "is required with exhaust, which is of one account");
        }
        if (left !== undefined && exhaust === undefined) {
          throw refusedAt("left", "needs exhaust, which says of what so many are left");
        }
        if (exhaust !== undefined && off) {
          throw refusedAt("off", "can't be with exhaust, which needs limits");
        }
        // An account without limits can't be exhausted.
        accounts.rule(caller?.account, { plan, off: exhaust === undefined ? off : false });
        parts.recording.lifted(caller?.account);
        if (token === undefined || exhaust === undefined) return;
        await limits.use(accounts.get(token), exhaust, left ?? 0);
      },
    },
    tokens: { create: (request = {}) => createToken(parts, request) },
    routes: () => parts.routes(),
  };
}

function createClock({ driven, limits, sockets, journal }: ControlledParts): EmulatorClock {
  const { clock } = driven;
  const read = (): ClockReading => {
    return { now: timestampOf(clock.now()), frozen: clock.frozen, offsetMs: clock.offsetMs };
  };
  const moved = async (ran: Promise<number[]>): Promise<ClockMoved> => {
    const times = await ran;
    limits.noteClock();
    // A token may have expired on the way.
    sockets.recheck();
    journal.changed();
    return { ...read(), ran: times.map(timestampOf) };
  };
  return {
    read,
    freeze(at) {
      const time = at === undefined ? undefined : parseTime(at, "freeze");
      return moved(time === undefined ? clock.freeze() : clock.freezeAt(time));
    },
    set: (to) => moved(clock.set(parseTime(to, "set"))),
    advance: (by) => moved(clock.advance(parseDuration(by, "advance"))),
    resume() {
      return moved(clock.resume());
    },
  };
}

async function reset(
  { driven, accounts, host, limits, sockets, faults, journal, tags, recording }: ControlledParts,
  { scope = "all", token }: OfToken & { readonly scope?: ResetScope | undefined },
): Promise<Cleared> {
  const account = token === undefined ? undefined : accounts.get(token).account;
  const all = scope === "all";
  const cleared = { memories: 0, projects: 0, requests: 0, faults: 0, tokens: 0 };
  if (all || scope === "data") {
    Object.assign(cleared, await host.store.write((context) => deleteData(context, account)));
    sockets.end(account, FORGOTTEN);
    recording.takenBack(account);
    // A seed that begins again may draw the same tokens again: nobody may still have one of them.
    if (account === undefined) cleared.tokens = accounts.forgetTokens();
    // With a seed the ids of the next test are those of this one, and so are its tags.
    if (account === undefined && driven.rewind()) tags.beginAgain();
    else tags.begin(account);
  }
  if (all || scope === "limits") {
    accounts.forgetRules(account);
    limits.forget(account);
    recording.lifted(account);
    await host.store.write(({ db }) => deleteCounts(db, account));
  }
  if (all || scope === "requests") {
    cleared.requests = clearRequests({ journal, recording }, account);
  }
  if (all || scope === "faults") {
    cleared.faults = clearFaults({ faults, recording }, account);
    if (account === undefined) faults.nameAnew();
  }
  journal.changed();
  return cleared;
}

function createToken({ accounts }: ControlledParts, request: EmulatorTokenRequest): MadeToken {
  const { scopes = ["read", "write"], projects, plan, user } = request;
  const account = request.account ?? accounts.newName();
  for (const [name, text] of Object.entries({ account, user: user ?? "x" })) {
    if (!ACCOUNT_NAME.test(text)) throw refusedAt(name, "must be 1 to 64 of 0-9 A-Z a-z _ -");
  }
  if (account === "readonly") {
    throw refusedAt("account", "must not be readonly: mst_dev_readonly is of pro");
  }
  const boundTo = projects === undefined ? null : projects.map(boundProject);
  const expiresAt =
    request.expiresAt === undefined ? undefined : parseTime(request.expiresAt, "expiresAt");
  const canWrite = scopes.includes("write");
  const token = accounts.make({ account, user, canWrite, boundTo, expiresAt });
  if (plan !== undefined) accounts.rule(accountOfName(account), { plan });
  return {
    token,
    account,
    plan: accounts.planOf(account),
    scopes: canWrite ? ["read", "write"] : ["read"],
    projects: boundTo,
    expiresAt: expiresAt === undefined ? null : timestampOf(expiresAt),
  };
}

function boundProject(text: string, at: number): ProjectId {
  const id = parseProjectId(text);
  if (id !== undefined) return id;
  throw refusedAt(`projects/${at}`, "must be a project's id");
}

/** Why sockets are closed whose client has to read everything anew. */
const RESTORED = "the emulator restored another state";

/** Without a token a seed goes into the account of the usual one. */
const USUAL_TOKEN = "mst_dev_pro";

function createStateControls(
  parts: ControlledParts,
): Pick<EmulatorControls, "seed" | "import" | "export" | "snapshots"> {
  const { accounts, services, snapshots, sockets, journal, tags, recording, rest } = parts;
  const callerOf = ({ token = USUAL_TOKEN }: OfToken) => accounts.get(token);
  const accountOf = ({ token }: OfToken) =>
    token === undefined ? undefined : accounts.get(token).account;
  const replaced = (account: AccountId | undefined) => {
    tags.begin(account);
    sockets.end(account, RESTORED);
    recording.takenBack(account);
  };
  return {
    async import(seed, of = {}) {
      const caller = callerOf(of);
      await rest();
      const seeded = await seedAccount({ ...parts, caller, emptied: true }, seed);
      replaced(caller.account);
      return seeded;
    },
    async seed(seed, of = {}) {
      const caller = callerOf(of);
      await rest();
      return await seedAccount({ ...parts, caller, emptied: false }, seed);
    },
    async export(of = {}) {
      const caller = callerOf(of);
      await rest();
      return await exportAccount(services, caller);
    },
    snapshots: {
      async save(name, of = {}) {
        const account = accountOf(of);
        await rest();
        await snapshots.save(name, account);
        journal.changed();
      },
      async restore(name, of = {}) {
        const account = accountOf(of);
        await rest();
        await snapshots.restore(name, account);
        replaced(account);
      },
      list: (of = {}) => snapshots.list(accountOf(of)),
      async delete(name, of = {}) {
        const account = accountOf(of);
        await rest();
        await snapshots.delete(name, account);
        journal.changed();
      },
    },
  };
}
