import { OPERATIONS } from "../server/openapi/document.ts";
import { type JsonSchema, SchemaPublisher } from "../server/openapi/published-schema.ts";
import { assert } from "../shared/errors.ts";
import { isObject } from "../shared/json.ts";

const JSON_TYPES = `/** What JSON can say. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
/** A JSON object: neither an array nor null. */
export type JsonObject = { readonly [key: string]: JsonValue };
`;

/**
 * The declarations of `client/wire.ts` written out, so that the package's types need no library:
 * the bodies of all operations and what is in them, by the names of their schemas.
 */
export function wireTypes(): string {
  const declared = Object.entries(wireSchemas()).map(
    ([name, schema]) => `${commentOf(schema, "")}export type ${name} = ${typeOf(schema, "")};\n`,
  );
  return [JSON_TYPES, ...declared].join("");
}

/** By name. */
export function wireSchemas(): Readonly<Record<string, JsonSchema>> {
  const publisher = new SchemaPublisher();
  for (const { body, answer } of OPERATIONS) {
    for (const schema of [...(body?.schemas ?? []), ...(answer?.schemas ?? [])]) {
      publisher.publish(schema, "answer");
    }
  }
  return publisher.components();
}

function typeOf(schema: JsonSchema, indent: string): string {
  const { $ref, anyOf, enum: values, items, minItems, maxItems, properties, type } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "";
  if (Array.isArray(anyOf)) return anyOf.map((each) => typeOf(each, indent)).join(" | ");
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (maxItems !== undefined && minItems === maxItems) {
    const each = typeOf(schemaIn(items), indent);
    return `readonly [${Array.from({ length: Number(maxItems) }, () => each).join(", ")}]`;
  }
  if (items !== undefined) return `readonly (${typeOf(schemaIn(items), indent)})[]`;
  const { additionalProperties } = schema;
  if (additionalProperties !== undefined) return recordOf(additionalProperties, indent);
  if (properties !== undefined) return objectOf(schema, indent);
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.map((each) => (each === "integer" ? "number" : each)).join(" | ");
}

function recordOf(values: unknown, indent: string): string {
  if (!isObject(values)) return "JsonObject";
  return `{ readonly [key: string]: ${typeOf(values, indent)} }`;
}

function objectOf({ properties, required }: JsonSchema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(schemaIn(properties)).map(([name, field]) => {
    const schema = schemaIn(field);
    const mark = Array.isArray(required) && required.includes(name) ? "" : "?";
    const comment = commentOf(schema, inner);
    return `${comment}${inner}readonly ${name}${mark}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

/** A part of a schema that has to be an object. */
function schemaIn(part: unknown): JsonSchema {
  assert(isObject(part), "a published schema is whole");
  return part;
}

function commentOf({ description }: JsonSchema, indent: string): string {
  return typeof description === "string" ? `${indent}/** ${description} */\n` : "";
}
