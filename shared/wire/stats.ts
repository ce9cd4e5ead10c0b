import { type Static, Type } from "@sinclair/typebox";

const RequestWindow = Type.Object({
  limit: Type.Union([Type.Integer(), Type.Null()]),
  used: Type.Integer(),
  remaining: Type.Union([Type.Integer(), Type.Null()]),
  resets_at: Type.Union([Type.String(), Type.Null()]),
});

/** Usage of an account. `limit` and `remaining` are null where limits are off. */
export const Stats = Type.Object({
  plan: Type.Union([Type.Literal("pro"), Type.Literal("team")]),
  projects: Type.Integer(),
  connections: Type.Integer(),
  memories: Type.Object({
    total: Type.Integer(),
    project: Type.Integer(),
    user: Type.Integer(),
    global: Type.Integer(),
  }),
  sessions: Type.Integer(),
  storage_bytes: Type.Integer(),
  syncs: Type.Object({
    total: Type.Integer(),
    last_synced_at: Type.Union([Type.String(), Type.Null()]),
  }),
  requests: Type.Object({ minute: RequestWindow, day: RequestWindow }),
});
export type Stats = Static<typeof Stats>;
