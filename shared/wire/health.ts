import { type Static, Type } from "@sinclair/typebox";

/** Answer of `GET /healthz`. */
export const Health = Type.Object({ status: Type.Literal("ok") }, { title: "Health" });
export type Health = Static<typeof Health>;

/** Answer of `GET /readyz` while the server accepts requests. */
export const Ready = Type.Object({ status: Type.Literal("ready") }, { title: "Ready" });
export type Ready = Static<typeof Ready>;

/** Its 503 while the server does not accept requests. */
export const Unready = Type.Object(
  { status: Type.Union([Type.Literal("starting"), Type.Literal("draining")]) },
  { title: "Unready" },
);
export type Unready = Static<typeof Unready>;
