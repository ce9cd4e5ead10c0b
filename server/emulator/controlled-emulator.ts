import { assert } from "../../shared/errors.ts";
import type { App } from "../app/app.ts";
import { bearerToken } from "../http/bearer.ts";
import type { Readiness } from "../operations/readiness.ts";
import { listOwners } from "../stores/owned-data.ts";
import { checkedControls } from "./control/checked-controls.ts";
import type { ControlGuard } from "./control/control-guard.ts";
import { ControlGuesses } from "./control/control-guesses.ts";
import { createControlPlane } from "./control/control-plane.ts";
import { controlRoutes } from "./control/control-routes.ts";
import { createControls } from "./control/controls.ts";
import { createEdge } from "./edge.ts";
import {
  createEmulatorApp,
  EMULATOR_HEADERS,
  type EmulatorApp,
  type EmulatorAppOptions,
} from "./emulator-app.ts";
import { FaultRules } from "./faults/fault-rules.ts";
import { createMisbehaviour } from "./faults/misbehaviour.ts";
import type { EmulatorControls, ServedRoute } from "./interface/emulator.ts";
import { Journal } from "./journal/journal.ts";
import { createRecording, type Recording } from "./journal/recording.ts";
import { EmulatorAccounts } from "./state/emulator-accounts.ts";
import { Snapshots } from "./state/snapshots.ts";
import { createTagEpochs } from "./state/tag-epochs.ts";
import { atRest } from "./time/at-rest.ts";
import { createDrivenWorlds } from "./time/driven-world.ts";

/** How an emulator that tests control begins. */
export interface ControlledOptions extends Omit<EmulatorAppOptions, "driven" | "plans"> {
  readonly readiness: Readiness;
  readonly allowedHosts: readonly string[];
  readonly strict: boolean;
  readonly controlToken: string | undefined;
  readonly frozenAt: number | undefined;
  readonly seed: string | undefined;
}

/** The emulator without a port, with what tests may do to it. */
export interface ControlledEmulator {
  readonly app: App;
  readonly controls: EmulatorControls;
  /** Sends all answers that a fault delays. To be called before the port is closed. */
  release(): void;
  close(): Promise<void>;
}

/** The service with a clock and chance that are driven, and the control calls before it. */
export async function openControlled(options: ControlledOptions): Promise<ControlledEmulator> {
  const { world, path, plan, limits, frozenAt, seed, log } = options;
  const startedAt = world.monotonic();
  const driven = createDrivenWorlds(world, { frozenAt, seed, isKept: path !== ":memory:" });
  const accounts = new EmulatorAccounts(driven.tokens, { plan, limits });
  const service = await createEmulatorApp({
    ...options,
    world: driven.data,
    driven: {
      requestWorld: driven.requests,
      writerWorld: driven.writers,
      connectionWorld: world,
      find: (token) => accounts.find(token),
      refusedToken: (token) => accounts.whyRefused(token),
      limitsOf: (caller) => accounts.limitsOf(caller),
    },
  });
  try {
    await assertAnswers(service.app);
    // So that the first request of a client gets the same id as the first one after a reset.
    driven.rewind();
  } catch (thrown) {
    await service.close();
    throw thrown;
  }
  const faults = new FaultRules({
    world: driven.faults,
    accountOf: (token) => accounts.get(token).account,
    routes: () => service.app.routes,
  });
  const accountOf = (headers: Headers) =>
    accounts.find(bearerToken(headers.get("authorization")) ?? "")?.account;
  const { app, rest } = atRest(service.app, { clock: driven.clock, real: world });
  const tags = createTagEpochs({ app, accountOf, world: driven.tags });
  const misbehaving = createMisbehaviour({
    app: tags.app,
    rules: faults,
    accountOf,
    world: driven.faults,
    requestWorld: driven.requests,
    log,
    extraHeaders: EMULATOR_HEADERS,
    injected: (request, rule) => recording.injected(request, rule),
  });
  const journal = new Journal(world);
  const recording: Recording = createRecording({
    ...{ app: misbehaving.app, journal, accountOf },
    ...{ world: driven.clock, real: world },
  });
  const controls = checkedControls(
    createControls({
      driven,
      accounts,
      faults,
      journal,
      tags,
      rest,
      snapshots: new Snapshots(service.host),
      ...judgedBy(options),
      recording,
      ...service,
      routes: () => servedRoutes(service, options),
    }),
  );
  const facts = {
    uptimeMs: () => world.monotonic() - startedAt,
    accounts: async () => (await listOwners(service.host.database.reader)).length,
  };
  const control = createControlPlane(controlRoutes(controls, facts), guardOf(options), {
    world: driven.controls,
    log,
    extraHeaders: EMULATOR_HEADERS,
  });
  return {
    app: createEdge(recording.app, { clock: driven.clock, control }),
    controls,
    release() {
      misbehaving.release();
      journal.close();
      recording.close();
    },
    close: () => service.close(),
  };
}

function judgedBy({ strict, publishedOnly = false }: ControlledOptions) {
  return { strict, publishedOnly };
}

function guardOf(options: ControlledOptions): ControlGuard {
  const { allowedHosts, loopbackOnly, controlToken, world } = options;
  return { allowedHosts, loopbackOnly, token: controlToken, guesses: new ControlGuesses(world) };
}

/** An account that nobody uses, so that nobody misses the request. */
const OWN_TOKEN = "mst_dev_-";

async function assertAnswers(app: App): Promise<void> {
  const headers = { authorization: `Bearer ${OWN_TOKEN}` };
  const response = await app.fetch(new Request("http://localhost/v1/projects", { headers }));
  assert(response.status === 200, `an emulator that starts answers, not with ${response.status}`);
  await response.arrayBuffer();
}

function servedRoutes(
  { app, published }: EmulatorApp,
  { publishedOnly = false }: ControlledOptions,
): ServedRoute[] {
  const key = ({ method, path }: { readonly method: string; readonly path: string }) =>
    `${method} ${path}`;
  const known = new Set(published().map(key));
  return app.routes
    .filter(({ path }) => !publishedOnly || isSpecified(path))
    .map((route) => ({ ...route, published: known.has(key(route)) && isSpecified(route.path) }))
    .sort((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** Health and the description are served by every server, and in no specification. */
function isSpecified(path: string): boolean {
  return path.startsWith("/v1/") || path.startsWith("/api/");
}
