import { createHash } from "node:crypto";
import { invalidKey } from "../services/once.ts";
import type { Once } from "../services/services.ts";
import { pathOf } from "./query.ts";
import type { JsonBody } from "./read-json.ts";

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Describes a POST with the header `Idempotency-Key`, which is done only once; undefined without
 * the header. Throws a 400 for a key other than 1 to 255 printable ASCII characters.
 */
export function onceOf(request: Request, body: JsonBody | undefined): Once | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!KEY.test(key)) throw invalidKey("must be 1 to 255 printable characters of ASCII");
  const bodyHash = createHash("sha256")
    .update(body?.raw ?? "")
    .digest("hex");
  return { path: pathOf(request.url), key, bodyHash };
}
