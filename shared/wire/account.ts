import { type Static, Type } from "@sinclair/typebox";
import { Timestamp } from "./timestamp.ts";

/** Who shares the memories of the layer `global`. Null: unknown. */
export const Account = Type.Object(
  {
    name: Type.Union([Type.String(), Type.Null()], {
      description: "null where a gateway has not heard it from its service yet",
    }),
    plan: Type.Union([Type.Literal("pro"), Type.Literal("team"), Type.Null()], {
      description: "null as for the name",
    }),
    users: Type.Union([Type.Integer(), Type.Null()], {
      description: "how many users there are, all of whom see `global`; null as for the name",
    }),
    user: Type.Union([Type.String(), Type.Null()], {
      description: "the user that the token is of; null where the service names none",
    }),
    /** Services of before this field leave it out, too. */
    token_expires_at: Type.Optional(
      Type.Unsafe<string>({ ...Timestamp, description: "left out where the token has no end" }),
    ),
  },
  { title: "Account" },
);
export type Account = Static<typeof Account>;
