import type { ErrorDetail } from "../errors.ts";
import { pointerToken } from "./parse.ts";
import { NOT_WELL_FORMED, wellFormed } from "./well-formed.ts";

/**
 * Adds a detail for each text and key of a JSON value that is not well formed: for documents whose
 * texts are taken over as they are or not at all. A request's become well formed; see `parseWith`.
 */
export function refuseMalformed(value: unknown, details: ErrorDetail[]): void {
  const left: { readonly path: string; readonly value: unknown }[] = [{ path: "", value }];
  // No recursion: nobody has looked at how deep it is.
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { path, value: part } = next;
    if (typeof part === "string" && !part.isWellFormed()) {
      details.push({ path, message: NOT_WELL_FORMED });
    }
    if (typeof part !== "object" || part === null) continue;
    for (const [key, item] of Object.entries(part).reverse()) {
      const place = `${path}/${pointerToken(wellFormed(key))}`;
      left.push({ path: place, value: item });
      if (!key.isWellFormed()) left.push({ path: place, value: key });
    }
  }
}
