import { KindGuard, type Static, type TSchema } from "@sinclair/typebox";
import { AppError, type ErrorDetail } from "../../../shared/errors.ts";
import { invalid, parseWith, pointerToken } from "../../../shared/wire/parse.ts";
import { readJson } from "../../http/read-json.ts";

/** A seed may be as large as what a client may send in one exchange. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The body of a control call. A field that the schema does not have is refused, as is what is not
 * declared to be JSON: a form on a web page can declare nothing else than a form.
 */
export async function readStrict<T extends TSchema>(
  request: Request,
  schema: T,
): Promise<Static<T>> {
  refuseOtherTypes(request.headers);
  const body = await readJson(request, BODY_BYTES_MAX);
  return parseStrict(schema, body === undefined ? {} : body.value);
}

/** The same of a value. */
function parseStrict<T extends TSchema>(schema: T, value: unknown): Static<T> {
  const details: ErrorDetail[] = [];
  findUnknown(schema, value, { path: "", details });
  if (details.length > 0) throw invalid(details);
  return parseWith(schema, value);
}

/** Throws a 400 for a write that is not declared to be JSON. */
function refuseOtherTypes(headers: Headers): void {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw new AppError("invalid_request", "send JSON with Content-Type: application/json");
}

/** Where an unknown field stands, and where to say so. */
interface Place {
  readonly path: string;
  readonly details: ErrorDetail[];
}

/** Adds a detail for each field of `value` that `schema` does not have. */
function findUnknown(schema: TSchema, value: unknown, { path, details }: Place): void {
  if (Array.isArray(value)) {
    if (!KindGuard.IsArray(schema)) return;
    for (const [at, item] of value.entries()) {
      findUnknown(schema.items, item, { path: `${path}/${at}`, details });
    }
    return;
  }
  if (typeof value !== "object" || value === null || !KindGuard.IsObject(schema)) return;
  for (const [key, field] of Object.entries(value)) {
    const place = `${path}/${pointerToken(key)}`;
    const known = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (known) findUnknown(known, field, { path: place, details });
    else details.push({ path: place, message: "is not a field of this call" });
  }
}
