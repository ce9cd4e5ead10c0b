import { isObject } from "../../../shared/json.ts";

/** Fields of `POST /v1/memories` that the specification names. */
export const MEMORY_FIELDS = ["content", "layer", "project_id"] as const;

/** Fields of the specification's sync payload. */
export const SYNC_FIELDS = ["claude_md_content", "memories", "metadata"] as const;

/**
 * A body with only these fields: an unpublished field is ignored like any unknown one, whatever its
 * type. A body that is no object is left for the parser to refuse.
 */
export function publishedFields(body: unknown, fields: readonly string[]): unknown {
  if (!isObject(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([field]) => fields.includes(field)));
}
