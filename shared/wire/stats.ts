import { type Static, Type } from "@sinclair/typebox";
import { Timestamp } from "./timestamp.ts";

/** One of the windows in which requests are counted. */
export const RequestWindow = Type.Object(
  {
    limit: Type.Union([Type.Integer(), Type.Null()], {
      description: "null where requests are not limited",
    }),
    used: Type.Integer(),
    remaining: Type.Union([Type.Integer(), Type.Null()], {
      description: "null where requests are not limited",
    }),
    resets_at: Type.Union([Timestamp, Type.Null()]),
  },
  { title: "RequestWindow" },
);

/** Usage of an account. `limit` and `remaining` are null where limits are off. */
export const Stats = Type.Object(
  {
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
    storage_bytes: Type.Integer({
      description: "bytes of all keys, values and description documents in UTF-8",
    }),
    syncs: Type.Object({
      total: Type.Integer(),
      last_synced_at: Type.Union([Timestamp, Type.Null()]),
    }),
    requests: Type.Object({ minute: RequestWindow, day: RequestWindow }),
  },
  { title: "Stats" },
);
export type Stats = Static<typeof Stats>;
