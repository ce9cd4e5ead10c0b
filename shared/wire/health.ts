import { type Static, Type } from "@sinclair/typebox";

/** Answer of `GET /healthz`, and of `GET /readyz` when the server can serve. */
export const Health = Type.Object({ status: Type.Literal("ok") }, { title: "Health" });
export type Health = Static<typeof Health>;
