import { type TSchema, Type } from "@sinclair/typebox";

/** `null` counts as left out everywhere but where it means something. */
const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

const Token = optional(Type.String());
const Plan = optional(
  Type.Union([Type.Literal("pro"), Type.Literal("team")], { expected: "pro or team" }),
);
const Time = Type.Union([Type.String(), Type.Number()], {
  expected: "an ISO 8601 timestamp, or milliseconds since 1970",
});
const Duration = Type.Union([Type.String(), Type.Number()], {
  expected: 'milliseconds, or a number with its unit such as "2h"',
});

export const ResetBody = Type.Object({
  scope: optional(
    Type.Union(
      ["all", "data", "limits", "faults", "requests"].map((scope) => Type.Literal(scope)),
      { expected: "all, data, limits, faults or requests" },
    ),
  ),
  token: Token,
});

export const ClockBody = Type.Object({
  set: optional(Time),
  advance: optional(Duration),
  advance_ms: optional(Duration),
  freeze: optional(Type.Union([Type.Boolean(), Time], { expected: "true, or a time" })),
  resume: optional(Type.Boolean()),
});

export const RandomBody = Type.Object({
  seed: Type.Union([Type.String(), Type.Number(), Type.Null()], {
    expected: "a text, a number, or null for none",
  }),
});

export const LimitsBody = Type.Object({
  plan: Plan,
  exhaust: optional(
    Type.Union([Type.Literal("minute"), Type.Literal("day")], { expected: "minute or day" }),
  ),
  left: optional(Type.Integer({ minimum: 0 })),
  off: optional(Type.Boolean()),
  token: Token,
});

export const TokenBody = Type.Object({
  account: optional(Type.String()),
  plan: Plan,
  user: optional(Type.String()),
  scopes: optional(
    Type.Array(
      Type.Union([Type.Literal("read"), Type.Literal("write")], { expected: "read or write" }),
    ),
  ),
  projects: optional(Type.Array(Type.String())),
  expires_at: optional(Time),
});

export const SnapshotBody = Type.Object({ name: Type.String(), token: Token });
export const TokenOnlyBody = Type.Object({ token: Token });
