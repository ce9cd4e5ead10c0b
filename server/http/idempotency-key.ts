import { createHash } from "node:crypto";
import { invalidKey } from "../services/once.ts";
import type { Once } from "../services/services.ts";
import { pathOf } from "./query.ts";
import type { JsonBody } from "./read-json.ts";

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * What makes a POST with the header `Idempotency-Key` one that is done once; undefined without the
 * header. Throws a 400 for a key that is not 1 to 255 printable characters of ASCII.
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
