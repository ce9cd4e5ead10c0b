import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AppError } from "../../../shared/errors.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import type { FaultEffect, FaultReport, FaultRule } from "../interface/faults.ts";
import { inCamelCase } from "./parse-strict.ts";

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

const EFFECT = {
  status: optional(Type.Integer()),
  error: optional(Type.String()),
  retry_after: optional(
    Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: "^[ -~]{1,64}$" })], {
      expected: "seconds, or a date",
    }),
  ),
  latency_ms: optional(
    Type.Union([Type.Number(), Type.Object({ median_ms: Type.Number(), sigma: Type.Number() })], {
      expected: "milliseconds, or median_ms with sigma",
    }),
  ),
  disconnect: optional(
    Type.Union([Type.Literal("before"), Type.Literal("after")], { expected: "before or after" }),
  ),
  truncate: optional(
    Type.Union([Type.Integer(), Type.Literal(true)], { expected: "a number of bytes, or true" }),
  ),
  malformed: optional(Type.Boolean()),
  silent: optional(Type.Boolean()),
  refuse_item: optional(Type.String()),
};

const EffectBody = Type.Object(EFFECT);

const RULE = {
  id: optional(
    Type.String({ pattern: "^[0-9A-Za-z_.-]{1,64}$", expected: "1 to 64 of 0-9 A-Z a-z _ . -" }),
  ),
  method: optional(Type.String()),
  path: optional(Type.String()),
  token: optional(Type.String()),
  times: optional(Type.Integer({ minimum: 1 })),
  probability: optional(Type.Number()),
};

/** A rule as the library takes it. */
export const LibraryRule = inCamelCase(Type.Object({ ...RULE, ...EFFECT }));

const RuleBody = Type.Object({
  ...RULE,
  ...EFFECT,
  // biome-ignore lint/suspicious/noThenProperty: the name that it has on the wire
  then: optional(EffectBody),
});

/** One rule, or several under `faults`. */
export const FaultsBody = Type.Object({
  ...RuleBody.properties,
  faults: optional(Type.Array(RuleBody)),
});

/** Throws a 400 for rules in both forms. */
export function faultRulesIn({ faults, ...one }: Static<typeof FaultsBody>): FaultRule[] {
  const isOne = Object.keys(one).length > 0;
  if (isOne && faults) {
    throw new AppError("invalid_request", "send one rule, or several under faults");
  }
  return (faults ?? [one]).map(ruleOf);
}

function ruleOf({ then, ...rule }: Static<typeof RuleBody>, at: number): FaultRule {
  const { id, method, path, token, times, probability } = rule;
  const beside = Object.keys(EFFECT).find((name) => Object.hasOwn(rule, name));
  if (then && beside !== undefined) {
    throw refusedAt(`/faults/${at}/${beside}`, "can't be together with then: put it there");
  }
  return { id, method, path, token, times, probability, ...effectOf(then ?? rule) };
}

function effectOf(body: Static<typeof EffectBody>): FaultEffect {
  const { status, error, disconnect, truncate, malformed, silent } = body;
  const { retry_after: retryAfter, refuse_item: refuseItem, latency_ms: latency } = body;
  const latencyMs =
    typeof latency === "object" ? { medianMs: latency.median_ms, sigma: latency.sigma } : latency;
  return {
    ...{ status, error, retryAfter, latencyMs },
    ...{ disconnect, truncate, malformed, silent, refuseItem },
  };
}

/** A rule as an answer shows it. Its token is that of whoever asks. */
export function faultAnswer(report: FaultReport) {
  const { id, method, path, token, times, probability, hits, remaining, ...effect } = report;
  const { status, error, disconnect, truncate, malformed, silent, latencyMs: latency } = effect;
  const latency_ms =
    typeof latency === "object" ? { median_ms: latency.medianMs, sigma: latency.sigma } : latency;
  return {
    ...{ id, method, path, token, times, probability, hits, remaining },
    ...{ status, error, retry_after: effect.retryAfter, latency_ms },
    ...{ disconnect, truncate, malformed, silent, refuse_item: effect.refuseItem },
  };
}
