import { Ajv2020 } from "ajv/dist/2020.js";
import type {
  OpenApiDocument,
  PathOperation,
  Reference,
  ResponseObject,
} from "../../server/openapi/document.ts";
import { parseTimestamp } from "../../shared/wire/timestamp.ts";

/** An operation of a document, with where it stands there. */
export interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: PathOperation;
}

/** Headers that the HTTP layer adds, or that are on every answer and describe nothing of it. */
const UNDESCRIBED =
  /^(date|connection|keep-alive|transfer-encoding|content-(type|length|security-policy)|x-content-type-options|x-frame-options|referrer-policy|cross-origin-.*-policy|x-memsync-emulator)$/;

/** Holds values and answers against an OpenAPI document; what it does not describe is wrong. */
export class OpenApiContract {
  readonly #ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    allErrors: true,
    formats: { "date-time": (text) => parseTimestamp(text) !== undefined },
  });

  constructor(readonly document: OpenApiDocument) {
    this.#ajv.addSchema({ ...(closed(document) as object), $id: "document" });
  }

  operations(): Described[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    );
  }

  /** What is wrong with `value` as the schema at this place of the document has it. */
  problems(place: readonly string[], value: unknown): string[] {
    const check = this.#ajv.compile({ $ref: `document#${pointerTo(place)}` });
    if (check(value)) return [];
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  /** What of an answer the document does not say. `text` is its body. */
  answerProblems(described: Described, response: Response, text: string): string[] {
    const { method, path, operation } = described;
    const status = String(response.status);
    const [place, answer] = this.#resolve(
      ["paths", path, method, "responses", status],
      operation.responses[status],
    );
    if (answer === undefined) return [`${status} is not described`];
    const problems = this.#headerProblems(answer, response.headers);
    const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
    if (answer.content === undefined) return text === "" ? problems : [...problems, "has a body"];
    if (answer.content[type] === undefined) return [...problems, `the type ${type} is undescribed`];
    const value: unknown = type === "application/json" ? JSON.parse(text) : text;
    return [...problems, ...this.problems([...place, "content", type, "schema"], value)];
  }

  #resolve(
    place: readonly string[],
    answer: ResponseObject | Reference | undefined,
  ): [readonly string[], ResponseObject | undefined] {
    if (answer === undefined || !("$ref" in answer)) return [place, answer];
    const name = answer.$ref.split("/").at(-1) ?? "";
    return [["components", "responses", name], this.document.components.responses[name]];
  }

  #headerProblems({ headers = {} }: ResponseObject, sent: Headers): string[] {
    const described = new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name]));
    const extra = [...sent.keys()].filter(
      (name) => !described.has(name) && !UNDESCRIBED.test(name),
    );
    const missing = [...described.values()].filter(
      (name) => this.document.components.headers[name]?.required && !sent.has(name),
    );
    return [
      ...extra.map((name) => `the header ${name} is not described`),
      ...missing.map((name) => `the header ${name} is missing`),
    ];
  }
}

export function pointerTo(place: readonly string[]): string {
  const tokens = place.map((each) => each.replaceAll("~", "~0").replaceAll("/", "~1"));
  return tokens.map((token) => `/${encodeURIComponent(token)}`).join("");
}

/** The document with objects that may hold nothing but what is described of them. */
function closed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(closed);
  const copy = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]));
  const isOpen = copy.type === "object" && copy.additionalProperties === undefined;
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
