import { LOCAL_USER } from "../../daemon/home/local-account.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { UsageError } from "../screen/errors.ts";

/** The layers in the order in which `get` looks. */
export const LAYER_ORDER = ["project", "user", "global"] as const satisfies readonly Layer[];

/** Throws `UsageError` for anything but a layer's name. */
export function parseLayerOption(text: string): Layer {
  const layer = LAYER_ORDER.find((each) => each === text);
  if (layer) return layer;
  throw new UsageError(`--layer is project, user or global, not "${text}"`);
}

/** The name of the local document of a layer that belongs to no project. */
export function ownDocument(layer: Exclude<Layer, "project">): string {
  return layer === "user" ? `user/${LOCAL_USER}` : "global";
}
