import type { TSchema } from "@sinclair/typebox";
import { ERROR_STATUS, type ErrorCode } from "../../shared/errors.ts";
import { VERSION } from "../../shared/version.ts";
import { ErrorBody } from "../../shared/wire/error.ts";
import { apiOperations } from "./api-operations.ts";
import { CODING, HEADERS, type HeaderName, headersOf, REFUSAL_HEADERS } from "./headers.ts";
import { INTRODUCTION } from "./introduction.ts";
import { type BodyContent, type Operation, type Parameter, TAGS } from "./operation.ts";
import { type JsonSchema, SchemaPublisher } from "./published-schema.ts";
import { REFUSALS } from "./refusals.ts";
import { serviceOperations } from "./service-operations.ts";
import { v1Operations } from "./v1-operations.ts";

/** An OpenAPI 3.1 document, as far as it is read here. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, PathParameter>>;
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: object;
  };
}

export type Reference = { readonly $ref: string };

export interface PathOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly [];
  readonly parameters?: readonly Reference[];
  readonly requestBody?: { readonly required: boolean; readonly content: MediaTypes };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
  readonly "x-websocket-frames"?: Readonly<Record<"client" | "server", readonly JsonSchema[]>>;
}

export interface PathParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

export interface HeaderObject {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: MediaTypes;
}

export type MediaTypes = Readonly<
  Record<
    string,
    {
      readonly schema: JsonSchema;
      readonly examples: Readonly<
        Record<string, { readonly summary: string; readonly value: unknown }>
      >;
    }
  >
>;

/** Every operation of the interface. */
export const OPERATIONS: readonly Operation[] = [
  ...v1Operations,
  ...apiOperations,
  ...serviceOperations,
];

/** Refusals of every operation: with a token, and without. */
const ALWAYS: readonly ErrorCode[] = ["unauthorized", "forbidden", "rate_limited", "internal"];
const ALWAYS_OPEN: readonly ErrorCode[] = ["forbidden", "internal"];

/** Describes both variants and what is served besides. Built anew at each call. */
export function createOpenApiDocument(): OpenApiDocument {
  const publisher = new SchemaPublisher();
  const paths: Record<string, Record<string, PathOperation>> = {};
  for (const operation of OPERATIONS) {
    const described = { [operation.method]: pathOperation(publisher, operation) };
    paths[operation.path] = { ...paths[operation.path], ...described };
  }
  const parameters = parameterComponents(publisher);
  const responses = responseComponents(publisher);
  const document = {
    openapi: "3.1.1",
    info: { title: "memsync", version: VERSION, description: INTRODUCTION, ...INFO },
    servers: [{ url: "/", description: "The server that this was read from." }],
    security: [{ token: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: publisher.components(),
      parameters,
      headers: headerComponents(),
      responses,
      securitySchemes: { token: SECURITY },
    },
  };
  return document;
}

const INFO = { license: { name: "MIT", identifier: "MIT" } };

const SECURITY = {
  type: "http",
  scheme: "bearer",
  description:
    "A token of a user of an account. It may be for reading only, bound to projects, " +
    "and end at some time.",
};

function pathOperation(publisher: SchemaPublisher, operation: Operation): PathOperation {
  const { id, tag, summary, description, open, parameters, body, more } = operation;
  const frames = more?.frames;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(open && { security: [] }),
    ...(parameters.length > 0 && {
      parameters: parameters.map((each) => refTo("parameters", each.id)),
    }),
    ...(body && {
      requestBody: {
        required: body.required,
        content: contentOf(body, (schema) => publisher.publish(schema, "request"), "anyOf"),
      },
    }),
    responses: responsesOf(publisher, operation),
    ...(frames && {
      "x-websocket-frames": {
        client: frames.client.map((each) => publisher.publish(each, "request")),
        server: frames.server.map((each) => publisher.publish(each, "answer")),
      },
    }),
  };
}

function responsesOf(
  publisher: SchemaPublisher,
  { answer, open = false, refusals, more }: Operation,
): PathOperation["responses"] {
  const responses: Record<string, ResponseObject | Reference> = {};
  if (answer !== undefined) {
    const names = headersOf(answer.kind, open);
    const content = contentOf(answer, (schema) => publisher.publish(schema, "answer"), "oneOf");
    responses["200"] = { description: "Done.", headers: headerRefs([...names, CODING]), content };
    if (answer.kind !== "write") {
      responses["304"] = { description: "The same as what you hold.", headers: headerRefs(names) };
    }
  }
  for (const code of new Set([...refusals, ...(open ? ALWAYS_OPEN : ALWAYS)])) {
    responses[ERROR_STATUS[code]] = refTo("responses", REFUSALS[code].name);
  }
  // An operation writes its own answers out as OpenAPI has them.
  return { ...responses, ...(more?.answers as Record<string, ResponseObject>) };
}

function contentOf(
  { schemas, examples, mediaType = "application/json" }: BodyContent,
  publish: (schema: TSchema) => JsonSchema,
  several: "anyOf" | "oneOf",
): MediaTypes {
  const [first, ...others] = schemas;
  const schema =
    others.length === 0 ? publish(first) : { [several]: [first, ...others].map(publish) };
  return { [mediaType]: { schema, examples } };
}

function parameterComponents(publisher: SchemaPublisher): Record<string, PathParameter> {
  const used = new Map<string, Parameter>();
  for (const { parameters } of OPERATIONS) {
    for (const parameter of parameters) used.set(parameter.id, parameter);
  }
  return Object.fromEntries(
    [...used].map(([id, { name, in: place, required, description, schema, example }]) => {
      const published = publisher.publish(schema, "answer");
      return [id, { name, in: place, required, description, schema: published, example }];
    }),
  );
}

function headerComponents(): Record<string, HeaderObject> {
  const publisher = new SchemaPublisher();
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, { description, required, schema, example }]) => {
      const published = publisher.publish(schema, "answer");
      return [name, { description, required, schema: published, example }];
    }),
  );
}

function responseComponents(publisher: SchemaPublisher): Record<string, ResponseObject> {
  const schema = publisher.publish(ErrorBody, "answer");
  return Object.fromEntries(
    Object.entries(REFUSALS).map(([code, { name, description, example }]) => {
      // `REFUSALS` has the codes for its names, and no other.
      const headers = headerRefs(REFUSAL_HEADERS[ERROR_STATUS[code as ErrorCode]] ?? []);
      const content = { "application/json": { schema, examples: { [code]: example } } };
      return [name, { description, headers, content }];
    }),
  );
}

function headerRefs(names: readonly HeaderName[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, refTo("headers", name)]));
}

function refTo(kind: "parameters" | "headers" | "responses", name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` };
}
