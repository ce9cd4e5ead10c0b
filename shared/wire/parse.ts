import { KindGuard, type Static, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { AppError, ERROR_DETAILS_MAX, type ErrorDetail } from "../errors.ts";
import { textProblem, textRulesOf } from "./text.ts";
import { wellFormed } from "./well-formed.ts";

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();

function compile(schema: TSchema): TypeCheck<TSchema> {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const check = TypeCompiler.Compile(schema);
  compiled.set(schema, check);
  return check;
}

/**
 * Reads `value` as `schema` describes it, into fresh objects with only the known fields. `null` in
 * an optional field counts as absent, and strings come out well formed (a lone surrogate becomes
 * U+FFFD). Throws a 400 with a detail for each wrong place, at most one more than an error body
 * shows. No detail contains a submitted value.
 *
 * ```
 * parseWith(Type.Object({ name: text({ nonEmpty: true }) }), { name: "" }); // throws a 400
 * ```
 */
export function parseWith<T extends TSchema>(schema: T, value: unknown): Static<T> {
  const details: ErrorDetail[] = [];
  const parsed = tryWith(schema, value, details);
  if (parsed === undefined) throw invalid(details);
  return parsed;
}

/** The same, but errors are added to `details`, and the result is undefined then. */
export function tryWith<T extends TSchema>(
  schema: T,
  value: unknown,
  details: ErrorDetail[],
): Static<T> | undefined {
  const shaped = shape(schema, value);
  const check = compile(schema);
  // `check` was compiled from `schema`, and `Static` is what it lets through.
  if (check.Check(shaped)) return shaped as Static<T>;
  details.push(...detailsOf(check.Errors(shaped)));
  return undefined;
}

/** A 400 for these places of the body. */
export function invalid(details: readonly ErrorDetail[]): AppError {
  const [first] = details;
  const place = first === undefined || first.path === "" ? "the body" : first.path;
  const more = details.length > 1 ? " (and more, see details)" : "";
  return new AppError(
    "invalid_request",
    `${place} ${first?.message ?? "is invalid"}${more}`,
    details,
  );
}

/** A 400 for one place, which its message names. */
export function refusedAt(path: string, message: string): AppError {
  return invalid([{ path, message }]);
}

/** One reference token of a JSON Pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function shape(schema: TSchema, value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return shapeArray(schema, value);
  if (typeof value !== "object" || value === null || !KindGuard.IsObject(schema)) return value;
  // Each field that is read is looked at by its own schema.
  return shapeObject(schema.properties, value as Record<string, unknown>);
}

function shapeArray(schema: TSchema, value: readonly unknown[]): readonly unknown[] {
  // A list that is too long is refused anyway, whatever it contains.
  if (!KindGuard.IsArray(schema) || value.length > (schema.maxItems ?? value.length)) return value;
  return value.map((item) => shape(schema.items, item));
}

function shapeObject(
  properties: Readonly<Record<string, TSchema>>,
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const key in properties) {
    const schema = properties[key];
    // Own fields only: "constructor" must not be found on a prototype.
    if (schema === undefined || !Object.hasOwn(value, key)) continue;
    const field = value[key];
    if (field === null && KindGuard.IsOptional(schema)) continue;
    known[key] = shape(schema, field);
  }
  return known;
}

function detailsOf(errors: Iterable<ValueError>): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>();
  for (const error of errors) {
    // A missing field is reported a second time for its type. The first report is clearer.
    if (details.has(error.path)) continue;
    details.set(error.path, { path: error.path, message: messageFor(error) });
    if (details.size > ERROR_DETAILS_MAX) break;
  }
  return [...details.values()];
}

const TYPE_MESSAGES: Readonly<Partial<Record<ValueErrorType, string>>> = {
  [ValueErrorType.Array]: "must be an array",
  [ValueErrorType.Boolean]: "must be a boolean",
  [ValueErrorType.Integer]: "must be an integer",
  [ValueErrorType.IntegerMinimum]: "is too small",
  [ValueErrorType.IntegerMaximum]: "is too large",
  [ValueErrorType.Object]: "must be an object",
  [ValueErrorType.String]: "must be a string",
};

function messageFor(error: ValueError): string {
  const rules = textRulesOf(error.schema);
  const expected: unknown = error.schema.expected;
  if (error.type === ValueErrorType.ObjectRequiredProperty) return "is required";
  if (rules !== undefined) return textProblem(rules, error.value) ?? "is invalid";
  if (typeof expected === "string") return `must be ${expected}`;
  return TYPE_MESSAGES[error.type] ?? "is invalid";
}
