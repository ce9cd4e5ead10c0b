import { KindGuard, type Static, type TSchema } from "@sinclair/typebox";
import { invalid, parseWith } from "../../../shared/wire/parse.ts";
import { unknownFields } from "../../../shared/wire/unknown-fields.ts";

/** What a call is given. A field that the schema does not have is refused. */
export function parseStrict<T extends TSchema>(schema: T, value: unknown): Static<T> {
  const unknown = unknownFields([schema], value);
  if (unknown.length > 0) {
    throw invalid(unknown.map((path) => ({ path, message: "is not a field of this call" })));
  }
  return parseWith(schema, value);
}

/** The same schema with the names that its fields have in the library, in its messages, too. */
export function inCamelCase(schema: TSchema): TSchema {
  if (KindGuard.IsUnion(schema)) {
    const { expected } = schema;
    const told = typeof expected === "string" && { expected: named(expected) };
    return { ...schema, ...told, anyOf: schema.anyOf.map(inCamelCase) };
  }
  if (!KindGuard.IsObject(schema)) return schema;
  const fields = Object.entries(schema.properties);
  const properties = fields.map(([name, field]) => [named(name), inCamelCase(field)]);
  const required = schema.required && { required: schema.required.map(named) };
  return { ...schema, ...required, properties: Object.fromEntries(properties) };
}

function named(text: string): string {
  return text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
