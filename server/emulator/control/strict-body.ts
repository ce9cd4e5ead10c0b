import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { AppError } from "../../../shared/errors.ts";
import { isObject } from "../../../shared/json.ts";
import { invalid, parseWith, refusedAt } from "../../../shared/wire/parse.ts";
import { emptyBody, type JsonBody, readJson } from "../../http/read-json.ts";
import { parseStrict } from "./parse-strict.ts";

/** A seed may be as large as what a client may send in one exchange. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The body of a control call. Refuses a field that the schema does not have; a body that is not
 * declared to be JSON, because a form on a web page can't declare that; and a parameter that the
 * call does not have, because a reset with its token in the address would be for everybody.
 */
export async function readStrict<T extends TSchema>(
  request: Request,
  schema: T,
  parameters: readonly string[] = [],
): Promise<Static<T>> {
  refuseOtherTypes(request.headers);
  for (const name of new URL(request.url).searchParams.keys()) {
    if (!parameters.includes(name)) throw refusedAt(name, "is not a parameter of this call");
  }
  const body = await readJson(request, BODY_BYTES_MAX, { isSeed: true });
  await refuseDoubleFields(body);
  return parseStrict(schema, body === undefined ? {} : body.value);
}

/** A body whose fields, besides these, the call itself checks. There must be one. */
export async function readFields<T extends TObject>(
  request: Request,
  schema: T,
): Promise<{ readonly known: Static<T>; readonly rest: Readonly<Record<string, unknown>> }> {
  refuseOtherTypes(request.headers);
  const body = await readJson(request, BODY_BYTES_MAX, { isSeed: true });
  if (body === undefined) throw emptyBody();
  await refuseDoubleFields(body);
  const known = parseWith(schema, body.value);
  const fields = Object.entries(isObject(body.value) ? body.value : {});
  const rest = fields.filter(([name]) => !Object.hasOwn(schema.properties, name));
  return { known, rest: Object.fromEntries(rest) };
}

/** If two fields have one name, only the last one would be read. */
async function refuseDoubleFields(body: JsonBody | undefined): Promise<void> {
  if (body === undefined) return;
  // Loaded here alone: it would cost each start something.
  const { doublesIn } = await import("../state/seed-places.ts");
  const doubles = doublesIn("line", new TextDecoder().decode(body.raw));
  if (doubles.length > 0) throw invalid(doubles);
}

/** Throws a 400 for a write that is not declared to be JSON. */
function refuseOtherTypes(headers: Headers): void {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw new AppError("invalid_request", "send JSON with Content-Type: application/json");
}
