import { HIDDEN } from "../../daemon/held/secret-scan.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Environment } from "../place/environment.ts";
import { LAYER_ORDER } from "../place/layer-option.ts";
import { withLocal } from "../place/place.ts";
import { visible } from "../screen/visible.ts";
import { findScope } from "./project-scope.ts";
import { readMemory } from "./read-memory.ts";
import { recall } from "./recall.ts";
import { ToolRefusal } from "./tool-result.ts";

/** The address of the list of a project's memories. */
export const PROJECT_URI = "memsync://project/{id}/memories";
/** The address of one memory; the key is encoded. */
export const MEMORY_URI = "memsync://memory/{layer}/{key}";

/** A resource as a list names it. */
export interface NamedResource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

const MIME_TYPE = "text/plain";
const LISTED_MAX = 50;
const LIST_TOKENS = 10_000;

/** The list of the memories of the project that this server is about. */
export async function projectResources(
  env: Environment,
  option: string | undefined,
): Promise<NamedResource[]> {
  const scope = await withLocal(env, (db) => findScope(env, db, { option }));
  if (scope.kind === "none") return [];
  const name = visible(`memories of ${scope.name}`);
  return [{ uri: `memsync://project/${scope.id}/memories`, name, mimeType: MIME_TYPE }];
}

/** The memories that can be read here, in the order of an overview. */
export async function memoryResources(
  env: Environment,
  option: string | undefined,
): Promise<NamedResource[]> {
  const { data } = await recall(env, option, { limit: LISTED_MAX, budget_tokens: LIST_TOKENS });
  return (
    data.memories
      // A memory whose key hides a secret could not be read by that key.
      .filter(({ key, project }) => project === undefined && !key.includes(HIDDEN))
      .map(({ key, layer }) => {
        const uri = `memsync://memory/${layer}/${encodeURIComponent(key)}`;
        return { uri, name: visible(`${key} (${layer})`), mimeType: MIME_TYPE };
      })
  );
}

/** The text of a project's list. */
export async function readProjectResource(
  env: Environment,
  option: string | undefined,
  id: string,
): Promise<string> {
  const asked = { project: id, limit: LISTED_MAX, budget_tokens: LIST_TOKENS };
  return (await recall(env, option, asked)).text;
}

/** The text of a memory. */
export async function readMemoryResource(
  env: Environment,
  option: string | undefined,
  { layer, key }: { readonly layer: string; readonly key: string },
): Promise<string> {
  return (await readMemory(env, option, { layer: layerNamed(layer), key: decoded(key) })).text;
}

function layerNamed(text: string): Layer {
  const layer = LAYER_ORDER.find((each) => each === text);
  if (layer) return layer;
  throw new ToolRefusal(visible(`there is no layer "${text}"`));
}

/** A host may have decoded it already. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
