import { type TSchema, Type } from "@sinclair/typebox";

/** `null` counts as left out, except where it has a meaning of its own. */
const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

const Token = optional(Type.String());
const Plan = optional(
  Type.Union([Type.Literal("pro"), Type.Literal("team")], { expected: "pro or team" }),
);
/** A date can only be given in the library. */
const Time = Type.Union([Type.String(), Type.Number(), Type.Date()], {
  expected: "an ISO 8601 timestamp, or milliseconds since 1970",
});
const Duration = Type.Union([Type.String(), Type.Number()], {
  expected: 'milliseconds, or a number with its unit such as "2h"',
});

export const ResetBody = Type.Object({
  scope: optional(
    Type.Union(
      (["all", "data", "limits", "faults", "requests"] as const).map((scope) =>
        Type.Literal(scope),
      ),
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

/** Which requests; the names are those of the library. */
export const RequestsAsked = Type.Object({
  ...{ token: Token, method: optional(Type.String()), path: optional(Type.String()) },
  status: optional(Type.Integer({ minimum: 100, maximum: 599, expected: "from 100 to 599" })),
  since: optional(Type.String()),
  frame: optional(Type.String()),
  closeCode: optional(
    Type.Integer({ minimum: 1000, maximum: 4999, expected: "from 1000 to 4999" }),
  ),
});

const Count = optional(Type.Integer({ minimum: 0 }));
const Timeout = optional(Type.Number({ minimum: 0 }));
const { properties: asked } = RequestsAsked;
export const AwaitedRequests = Type.Object({ ...asked, count: Count, timeoutMs: Timeout });
export const ChangedRequests = Type.Object({
  ...asked,
  after: optional(Type.String()),
  timeoutMs: Timeout,
});

/** Options of `startEmulator`. The seed is checked where it is written. */
export const StartOptions = Type.Object({
  host: optional(Type.String()),
  port: optional(Type.Integer({ minimum: 0, maximum: 65_535, expected: "from 0 to 65535" })),
  dataDir: optional(Type.String()),
  plan: Plan,
  limits: optional(
    Type.Union([Type.Literal("on"), Type.Literal("off")], { expected: "on or off" }),
  ),
  publishedOnly: optional(Type.Boolean()),
  strict: optional(Type.Boolean()),
  seed: optional(Type.Unknown()),
  clock: optional(Time),
  random: optional(Type.Union([Type.String(), Type.Number()], { expected: "a text or a number" })),
  allowedHosts: optional(Type.Array(Type.String())),
  controlToken: optional(
    Type.String({
      pattern: "^[!-~]{1,256}$",
      expected: "1 to 256 visible characters of ASCII, without spaces",
    }),
  ),
});

export const SnapshotBody = Type.Object({ name: Type.String(), token: Token });
export const TokenOnlyBody = Type.Object({ token: Token });
export const FaultsOf = Type.Object({ token: Token, id: optional(Type.String()) });
