import { type Static, Type } from "@sinclair/typebox";

/** Every layer, in the order in which an exchange goes through them. */
export const LAYERS = ["project", "user", "global"] as const;

/** Who owns a memory: a project, one user in all projects, or the whole account. */
export const Layer = Type.Union(
  [Type.Literal("project"), Type.Literal("user"), Type.Literal("global")],
  {
    title: "Layer",
    description: "whose a memory is: a project's, one user's in all projects, or the account's",
    expected: "one of project, user, global",
  },
);
export type Layer = Static<typeof Layer>;

/** `value` as a layer; undefined if it is none. */
export function parseLayer(value: string): Layer | undefined {
  return LAYERS.find((layer) => layer === value);
}
