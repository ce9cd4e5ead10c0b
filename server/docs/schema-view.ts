import { isObject } from "../../shared/json.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import type { JsonSchema } from "../openapi/published-schema.ts";
import { type Html, type HtmlPart, html } from "./html.ts";
import { inline } from "./markdown.ts";
import { mark, scrollTable } from "./pieces.ts";

interface Field {
  /** For example `memories[].key`. */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Shows schemas of one document as tables of their fields. */
export class SchemaView {
  constructor(readonly document: OpenApiDocument) {}

  /**
   * All shapes of a body, each under its name where there are several. In a request required fields
   * are marked, in an answer optional ones.
   */
  body(schema: JsonSchema, marked: "required" | "optional"): Html {
    const shapes = schema.oneOf ?? schema.anyOf;
    if (!Array.isArray(shapes)) return this.#table(schema, marked);
    return html`${shapes.map(
      (shape: JsonSchema) => html`<h5>${referenceName(shape)}</h5>${this.#table(shape, marked)}`,
    )}`;
  }

  /** A schema's type in words. */
  type(schema: JsonSchema): Html {
    const { $ref, anyOf, enum: values, type } = schema;
    if ($ref !== undefined) return this.type(this.resolve(schema));
    if (Array.isArray(anyOf)) return html`${this.type(anyOf[0])} or null`;
    if (Array.isArray(values)) return oneOf(values);
    if ("const" in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
    if (isObject(schema.items)) {
      const items = this.type(schema.items);
      return isOfLength(schema)
        ? html`array of ${Number(schema.maxItems)}: ${items}`
        : html`array of ${items}`;
    }
    const names = (Array.isArray(type) ? type : [type]).map((each) =>
      each === "string" && schema.format === "date-time" ? "time" : String(each),
    );
    return html`${names.join(" or ")}`;
  }

  /** Further rules for a value, and its purpose. */
  notes(schema: JsonSchema): Html {
    const { anyOf } = schema;
    const target = this.resolve(Array.isArray(anyOf) ? anyOf[0] : schema);
    const description = schema.description ?? target.description;
    const notes: HtmlPart[] = [
      ...(typeof description === "string" ? [inline(description)] : []),
      ...constraints(target).map((each) => html`${each}`),
      ...(typeof target.pattern === "string" ? [html`<code>${target.pattern}</code>`] : []),
    ];
    return html`${notes.map((note, at) => html`${at > 0 && "; "}${note}`)}`;
  }

  resolve(schema: JsonSchema): JsonSchema {
    if (typeof schema.$ref !== "string") return schema;
    return this.document.components.schemas[referenceName(schema)] ?? {};
  }

  #table(schema: JsonSchema, marked: "required" | "optional"): Html {
    const fields = [...this.#fields(schema, "")];
    if (fields.length === 0) return html`<p>${this.type(schema)}</p>`;
    const rows = fields.map(
      ({ path, schema, required }) => html`<tr>
<th scope="row"><code>${path}</code>${required === (marked === "required") && mark(marked)}</th>
<td>${this.type(schema)}</td><td>${this.notes(schema)}</td></tr>`,
    );
    return scrollTable("Fields", ["Field", "Type", "Notes"], rows);
  }

  /** All fields, each followed by those inside of it. The schemas have no cycles. */
  *#fields(schema: JsonSchema, prefix: string): Generator<Field> {
    const { properties, required, items, anyOf } = this.resolve(schema);
    if (isObject(items)) yield* this.#fields(items, `${prefix}[]`);
    if (Array.isArray(anyOf)) yield* this.#fields(anyOf[0], prefix);
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      if (!isObject(property)) continue;
      const path = prefix === "" ? name : `${prefix}.${name}`;
      yield {
        path,
        schema: property,
        required: Array.isArray(required) && required.includes(name),
      };
      yield* this.#fields(property, path);
    }
  }
}

/** The last part of a reference. */
export function referenceName(reference: { readonly $ref?: unknown }): string {
  return String(reference.$ref).split("/").at(-1) ?? "";
}

function oneOf(values: readonly unknown[]): Html {
  const codes = values.map(
    (value) => html`<code>${value === null ? "null" : String(value)}</code>`,
  );
  return html`${codes.map((code, at) => html`${at > 0 && " or "}${code}`)}`;
}

function isOfLength({ minItems, maxItems }: JsonSchema): boolean {
  return maxItems !== undefined && minItems === maxItems;
}

function constraints(schema: JsonSchema): string[] {
  const { minimum, maximum, minLength, maxItems } = schema;
  const range =
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
      ? `from ${minimum}`
      : `${minimum} to ${maximum}`;
  return [
    ...(minimum === undefined ? [] : [range]),
    ...(minLength === 1 ? ["not empty"] : []),
    ...(maxItems === undefined || isOfLength(schema) ? [] : [`at most ${maxItems}`]),
  ];
}
