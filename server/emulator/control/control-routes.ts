import type { Static } from "@sinclair/typebox";
import { AppError } from "../../../shared/errors.ts";
import { VERSION } from "../../../shared/version.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import { answerDocument } from "../../http/answer-document.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { inWireNames } from "../faults/wire-names.ts";
import type { ClockMoved, EmulatorControls, MadeToken } from "../interface/emulator.ts";
import type { FaultReport } from "../interface/faults.ts";
import { parseDuration } from "../time/parse-time.ts";
import {
  ClockBody,
  LimitsBody,
  RandomBody,
  ResetBody,
  SnapshotBody,
  TokenBody,
  TokenOnlyBody,
} from "./control-bodies.ts";
import { FaultsBody, faultAnswer, faultRulesIn } from "./fault-bodies.ts";
import { requestAnswer, requestsAsked, violationAnswer } from "./request-answers.ts";
import { readFields, readStrict } from "./strict-body.ts";

/** One control call, after the guard has let it in. */
export interface ControlCall {
  readonly request: Request;
  readonly query: URLSearchParams;
  /** The part of the path that a route leaves open. */
  readonly name: string;
  readonly context: RequestContext;
}

/** A method of a path below `/_emulator/`; `*` in it is one part of any text. */
export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** Resolves to the body of the 200. */
  answer(call: ControlCall): unknown;
}

/** What the routes tell of the emulator that is not a control. */
export interface EmulatorFacts {
  /** Milliseconds since its start, of the real time. */
  uptimeMs(): number;
  /** How many accounts have stored anything. */
  accounts(): Promise<number>;
}

/** `/_emulator/*`: the controls in the form of HTTP. */
export function controlRoutes(
  controls: EmulatorControls,
  facts: EmulatorFacts,
): readonly ControlRoute[] {
  return [
    {
      method: "GET",
      path: "",
      async answer({ context, request }) {
        // Loaded here alone: it would cost each start something.
        const { emulatorPage } = await import("../page/emulator-page.ts");
        return answerDocument(context, request, emulatorPage());
      },
    },
    { method: "GET", path: "health", answer: () => health(controls, facts) },
    {
      method: "POST",
      path: "reset",
      async answer({ request }) {
        const { scope, token } = await readStrict(request, ResetBody);
        const cleared = await controls.reset({ scope, token });
        return { cleared };
      },
    },
    {
      method: "GET",
      path: "clock",
      answer: () => clockAnswer({ ...controls.clock.read(), ran: [] }),
    },
    {
      method: "POST",
      path: "clock",
      answer: async ({ request }) =>
        clockAnswer(await moveClock(controls, await readStrict(request, ClockBody))),
    },
    {
      method: "POST",
      path: "random",
      async answer({ request }) {
        const { seed } = await readStrict(request, RandomBody);
        controls.random(seed);
        return { seed: seed === null ? null : String(seed) };
      },
    },
    {
      method: "POST",
      path: "limits",
      async answer({ request }) {
        await controls.limits.set(await readStrict(request, LimitsBody));
        return {};
      },
    },
    {
      method: "POST",
      path: "tokens",
      async answer({ request }) {
        const { expires_at: expiresAt, ...asked } = await readStrict(request, TokenBody);
        return tokenAnswer(asSent(() => controls.tokens.create({ ...asked, expiresAt })));
      },
    },
    { method: "GET", path: "routes", answer: () => ({ routes: controls.routes() }) },
    ...faultRoutes(controls),
    ...requestRoutes(controls),
    ...stateRoutes(controls),
  ];
}

function stateRoutes(controls: EmulatorControls): ControlRoute[] {
  const { snapshots } = controls;
  const seedIn = async ({ request, query }: ControlCall) => {
    const of = tokenIn(query);
    const { known, rest } = await readFields(request, TokenOnlyBody);
    return [rest, { token: oneToken(known.token, of.token) }] as const;
  };
  const ofToken = async ({ request, query }: ControlCall) => {
    const { token } = await readStrict(request, TokenOnlyBody, ["token"]);
    return { token: oneToken(token, tokenIn(query).token) };
  };
  const named = async ({ request }: ControlCall) => await readStrict(request, SnapshotBody);
  return [
    {
      method: "POST",
      path: "seed",
      answer: async (call) => await controls.seed(...(await seedIn(call))),
    },
    { method: "GET", path: "export", answer: ({ query }) => controls.export(tokenIn(query)) },
    {
      method: "POST",
      path: "import",
      answer: async (call) => await controls.import(...(await seedIn(call))),
    },
    {
      method: "GET",
      path: "snapshots",
      answer: ({ query }) => ({
        snapshots: snapshots.list(tokenIn(query)).map((name) => ({ name })),
      }),
    },
    {
      method: "POST",
      path: "snapshots",
      async answer(call) {
        const { name, token } = await named(call);
        await snapshots.save(name, { token });
        return { name };
      },
    },
    {
      method: "POST",
      path: "snapshots/restore",
      async answer(call) {
        const { name, token } = await named(call);
        await snapshots.restore(name, { token });
        return { name };
      },
    },
    {
      method: "PUT",
      path: "snapshots/*",
      async answer(call) {
        await snapshots.save(call.name, await ofToken(call));
        return { name: call.name };
      },
    },
    {
      method: "POST",
      path: "snapshots/*/restore",
      async answer(call) {
        await snapshots.restore(call.name, await ofToken(call));
        return { name: call.name };
      },
    },
    {
      method: "DELETE",
      path: "snapshots/*",
      async answer({ name, query }) {
        await snapshots.delete(name, tokenIn(query));
        return { name, deleted: true };
      },
    },
  ];
}

function requestRoutes({ requests, violations }: EmulatorControls): ControlRoute[] {
  return [
    {
      method: "GET",
      path: "requests",
      async answer({ query }) {
        const found = await requestsAsked(requests, query);
        return { ...found, requests: found.requests.map(requestAnswer) };
      },
    },
    {
      method: "DELETE",
      path: "requests",
      answer: ({ query }) => ({ cleared: { requests: requests.clear(tokenIn(query)) } }),
    },
    {
      method: "GET",
      path: "violations",
      answer: async ({ query }) => ({
        violations: (await violations.list(tokenIn(query))).map(violationAnswer),
      }),
    },
  ];
}

function faultRoutes({ faults }: EmulatorControls): ControlRoute[] {
  const made = (rules: readonly FaultReport[]) => ({ faults: rules.map(faultAnswer) });
  const withId = (query: URLSearchParams) => ({
    ...tokenIn(query, ["id"]),
    id: query.get("id") ?? undefined,
  });
  const rulesIn = async (request: Request, parameters: readonly string[] = []) =>
    faultRulesIn(await readStrict(request, FaultsBody, parameters));
  return [
    { method: "GET", path: "faults", answer: ({ query }) => made(faults.list(tokenIn(query))) },
    {
      method: "POST",
      path: "faults",
      async answer({ request }) {
        const rules = await rulesIn(request);
        return made(asSent(() => faults.add(...rules)));
      },
    },
    {
      method: "PUT",
      path: "faults",
      async answer({ request, query }) {
        const rules = await rulesIn(request, ["token"]);
        return made(asSent(() => faults.set(rules, tokenIn(query))));
      },
    },
    {
      method: "DELETE",
      path: "faults",
      answer: ({ query }) => ({ cleared: { faults: faults.clear(withId(query)) } }),
    },
  ];
}

/** Refuses what was asked over HTTP by the names that its fields have there. */
function asSent<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw inWireNames(thrown);
  }
}

/** The token, and further parameters, that narrow a call. Throws a 400 for any other parameter. */
function tokenIn(query: URLSearchParams, more: readonly string[] = []) {
  for (const name of query.keys()) {
    if (name === "token" || more.includes(name)) continue;
    throw refusedAt(name, "is not a parameter of this call");
  }
  return { token: query.get("token") ?? undefined };
}

/** The token that the body or the address names. Throws a 400 if they name different ones. */
function oneToken(inBody: string | undefined, inAddress: string | undefined) {
  if (inBody === undefined || inAddress === undefined || inBody === inAddress) {
    return inBody ?? inAddress;
  }
  throw refusedAt("token", "is another one in the body");
}

async function health({ clock }: EmulatorControls, facts: EmulatorFacts) {
  const { now, frozen } = clock.read();
  return {
    schema: 1,
    status: "ok",
    version: VERSION,
    uptime_ms: Math.floor(facts.uptimeMs()),
    now,
    frozen,
    accounts: await facts.accounts(),
  };
}

function moveClock(
  { clock }: EmulatorControls,
  { set, advance, advance_ms, freeze, resume }: Static<typeof ClockBody>,
): Promise<ClockMoved> {
  const given = [set, advance, advance_ms, freeze || undefined, resume || undefined];
  if (given.filter((each) => each !== undefined).length !== 1) {
    const message = "name one of set, advance, advance_ms, freeze and resume";
    throw new AppError("invalid_request", message);
  }
  if (set !== undefined) return clock.set(set);
  if (advance !== undefined) return clock.advance(advance);
  if (advance_ms !== undefined) return clock.advance(parseDuration(advance_ms, "advance_ms"));
  if (resume) return clock.resume();
  return clock.freeze(typeof freeze === "boolean" ? undefined : freeze);
}

function clockAnswer({ now, frozen, offsetMs, ran }: ClockMoved) {
  return { now, frozen, offset_ms: offsetMs, ran };
}

function tokenAnswer({ expiresAt, ...made }: MadeToken) {
  return { ...made, expires_at: expiresAt };
}
