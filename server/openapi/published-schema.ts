import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox";
import { assert } from "../../shared/errors.ts";
import { textRulesOf } from "../../shared/wire/text.ts";

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 has them. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The direction of a schema: in a request null may stand for an absent value. */
type Side = "request" | "answer";

/** Keywords with the same meaning in both. */
const KEPT = ["type", "description", "format", "enum", "pattern", "minimum", "maximum"] as const;

/**
 * Converts the schemas that check requests and type answers to published ones. A schema with a
 * `title` becomes a component of that name, which is referred to wherever it is used.
 */
export class SchemaPublisher {
  readonly #components = new Map<string, JsonSchema>();

  /** By name, in alphabetical order. */
  components(): Readonly<Record<string, JsonSchema>> {
    const byName = [...this.#components].sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(byName);
  }

  publish(schema: TSchema, side: Side): JsonSchema {
    const name = schema.title;
    if (name === undefined) return this.#convert(schema, side);
    const converted = this.#convert(schema, side);
    const known = this.#components.get(name);
    assert(
      known === undefined || JSON.stringify(known) === JSON.stringify(converted),
      `the schema ${name} is one and the same wherever it is used`,
    );
    this.#components.set(name, converted);
    return { $ref: `#/components/schemas/${name}` };
  }

  #convert(schema: TSchema, side: Side): JsonSchema {
    if (TypeGuard.IsObject(schema)) return this.#object(schema, side);
    if (TypeGuard.IsArray(schema)) {
      const { minItems, maxItems } = schema;
      const items = this.publish(schema.items, side);
      return { ...keptOf(schema), items, ...defined({ minItems, maxItems }) };
    }
    if (TypeGuard.IsTuple(schema)) {
      const [items, ...others] = (schema.items ?? []).map((item) => this.publish(item, side));
      // Some client generators that read `prefixItems` need `items` as well, so all items are of
      // one kind.
      const isOfOne = others.every((other) => JSON.stringify(other) === JSON.stringify(items));
      assert(items !== undefined && isOfOne, "the items of a tuple are of one kind");
      const length = 1 + others.length;
      return { type: "array", items, minItems: length, maxItems: length };
    }
    if (TypeGuard.IsRecord(schema)) return this.#record(schema, side);
    if (TypeGuard.IsUnion(schema)) return this.#union(schema, side);
    if (TypeGuard.IsLiteral(schema)) return { type: schema.type, const: schema.const };
    return textRulesOf(schema) === undefined ? keptOf(schema) : textOf(schema);
  }

  #object(schema: TObject, side: Side): JsonSchema {
    const properties = this.#properties(schema.properties, side);
    return { ...keptOf(schema), properties, ...defined({ required: schema.required }) };
  }

  #properties(
    of: Readonly<Record<string, TSchema>>,
    side: Side,
  ): Readonly<Record<string, unknown>> {
    const entries = Object.entries(of).map(([name, schema]) => {
      const published = this.publish(schema, side);
      const mayBeNull = side === "request" && TypeGuard.IsOptional(schema);
      return [name, mayBeNull ? orNull(published) : published];
    });
    return Object.fromEntries(entries);
  }

  /** `properties` and `additionalProperties` of a record are only for readers. */
  #record(schema: TSchema, side: Side): JsonSchema {
    const { properties, additionalProperties } = schema;
    return {
      ...keptOf(schema),
      ...(properties && { properties: this.#properties(properties, side) }),
      additionalProperties:
        typeof additionalProperties === "object" ? this.publish(additionalProperties, side) : true,
    };
  }

  #union(schema: TSchema & { readonly anyOf: readonly TSchema[] }, side: Side): JsonSchema {
    const others = schema.anyOf.filter((each) => !TypeGuard.IsNull(each));
    const [only] = others;
    if (others.every((each) => TypeGuard.IsLiteral(each))) {
      const named = { type: "string", ...keptOf(schema), enum: others.map((each) => each.const) };
      return others.length < schema.anyOf.length ? orNull(named) : named;
    }
    assert(only !== undefined && others.length === 1, "a union is of literals, or with null");
    return { ...orNull(this.publish(only, side)), ...keptOf(schema) };
  }
}

function keptOf(schema: TSchema): JsonSchema {
  return defined(Object.fromEntries(KEPT.map((keyword) => [keyword, schema[keyword]])));
}

function defined(keywords: Readonly<Record<string, unknown>>): JsonSchema {
  const entries = Object.entries(keywords).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** `maxLength` counts characters. A text never has more of them than bytes. */
function textOf(schema: TSchema): JsonSchema {
  const { bytesMax } = textRulesOf(schema) ?? {};
  const { minLength, maxLength, description } = schema;
  const limit = bytesMax === undefined ? undefined : `at most ${bytesMax} bytes of UTF-8`;
  const words = [description, limit].filter((each) => each !== undefined).join("; ");
  return {
    ...keptOf(schema),
    ...(words !== "" && { description: words }),
    ...defined({ minLength, maxLength }),
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (typeof type !== "string") return { anyOf: [schema, { type: "null" }] };
  const nullable = { ...schema, type: [type, "null"] };
  return Array.isArray(values) ? { ...nullable, enum: [...values, null] } : nullable;
}
