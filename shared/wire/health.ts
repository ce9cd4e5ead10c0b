import { type Static, Type } from "@sinclair/typebox";

/** Answer of `GET /healthz`. */
export const Health = Type.Object({ status: Type.Literal("ok") }, { title: "Health" });
export type Health = Static<typeof Health>;

/** Answer of `GET /readyz` when the server wants requests. */
export const Ready = Type.Object({ status: Type.Literal("ready") }, { title: "Ready" });
export type Ready = Static<typeof Ready>;

/** Its answer, a 503, when the server does not yet, or no longer. */
export const Unready = Type.Object(
  { status: Type.Union([Type.Literal("starting"), Type.Literal("draining")]) },
  { title: "Unready" },
);
export type Unready = Static<typeof Unready>;
