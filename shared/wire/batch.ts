import { type Static, Type } from "@sinclair/typebox";
import { ERROR_STATUS, type ErrorDetail, messageOf } from "../errors.ts";
import type { ProjectId } from "../ids.ts";
import { isObject } from "../json.ts";
import { LIMITS } from "../limits.ts";
import { ErrorBody } from "./error.ts";
import {
  type Binaries,
  DocumentsAnswerBody,
  DocumentsBody,
  documentAnswersIn,
  documentsIn,
  ENCODING,
  type ExchangeAnswer,
  type ExchangeRequest,
  encodeDocuments,
  encodeExchangeRequest,
  parseExchangeAnswer,
  parseExchangeRequest,
} from "./exchange.ts";
import { jsonObject } from "./json.ts";
import { invalid, tryWith } from "./parse.ts";
import { SessionsBody } from "./sync.ts";
import { text } from "./text.ts";

/** A batch's part about one project, as JSON. */
export const ProjectPartBody = Type.Object(
  {
    name: Type.Optional(
      text(
        { nonEmpty: true, bytesMax: LIMITS.projectNameBytes },
        { description: "for a project that is made by this" },
      ),
    ),
    documents: DocumentsBody,
  },
  { title: "ProjectPart", description: "one project's part of an exchange about several" },
);

/** The outcome for one project, as JSON: exactly one of the three is present. */
export const ProjectPartAnswerBody = Type.Object(
  {
    documents: Type.Optional(DocumentsAnswerBody),
    error: Type.Optional(ErrorBody.properties.error),
    later: Type.Optional(
      Type.Boolean({
        description: "not looked at, for the answer or the work is large: send it again",
      }),
    ),
  },
  { title: "ProjectPartAnswer", description: "what became of one project's part" },
);

const EncodingBody = Type.Literal(ENCODING, { expected: ENCODING });

/** An exchange of `user` and `global`, and of several projects. */
export const BatchBody = Type.Object(
  {
    crdt: Type.Object({
      encoding: EncodingBody,
      documents: DocumentsBody,
      projects: Type.Optional(
        jsonObject<Readonly<Record<string, Static<typeof ProjectPartBody>>>>({
          additionalProperties: ProjectPartBody,
          description: `by project id, at most ${LIMITS.projectsPerExchange}`,
        }),
      ),
    }),
    sessions: Type.Optional(SessionsBody),
  },
  { title: "Batch" },
);

/** The answer to it. */
export const BatchAnswerBody = Type.Object(
  {
    crdt: Type.Object({
      encoding: EncodingBody,
      documents: DocumentsAnswerBody,
      projects: Type.Optional(
        jsonObject<Readonly<Record<string, Static<typeof ProjectPartAnswerBody>>>>({
          additionalProperties: ProjectPartAnswerBody,
          description: "by project id, one for each that was sent",
        }),
      ),
    }),
  },
  { title: "BatchAnswer" },
);

/** A batch's part about one project. */
export interface ProjectPart {
  /** The project's name, in case the service has to create it. */
  readonly name?: string;
  readonly documents: ExchangeRequest["documents"];
}

/** One call about several projects, and perhaps `user` and `global`. */
export interface BatchRequest {
  readonly documents: ExchangeRequest["documents"];
  readonly projects: ReadonlyMap<ProjectId, ProjectPart>;
}

/** The outcome for one project. */
export type PartAnswer =
  | { readonly kind: "served"; readonly value: ExchangeAnswer }
  /** Refused as a call of its own would have been, with this status. */
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  /** Not processed: to be sent again. */
  | { readonly kind: "later" };

/** The answer to a batch, with the outcome for each project. */
export interface BatchAnswer {
  readonly documents: ExchangeAnswer["documents"];
  readonly projects: ReadonlyMap<ProjectId, PartAnswer>;
}

/** The body to send, ready for `JSON.stringify`. */
export function encodeBatchRequest(request: BatchRequest): Static<typeof BatchBody> {
  const projects = [...request.projects].map(([id, { name, documents }]) => {
    return [id, { ...(name !== undefined && { name }), documents: encodeDocuments(documents) }];
  });
  const { crdt } = encodeExchangeRequest(request);
  return { crdt: { ...crdt, projects: Object.fromEntries(projects) } };
}

/**
 * A batch that arrived. It is parsed, except for the projects' parts, which are kept by their keys.
 */
export interface ArrivedBatch {
  readonly exchange: ExchangeRequest;
  /** Undefined if the call is about no projects. Each part is to be parsed separately. */
  readonly parts: ReadonlyMap<string, unknown> | undefined;
  /** For the parts' long texts. */
  readonly binaries: Binaries;
}

/** Throws a 400 for a malformed envelope. A project's malformed part is refused on its own. */
export function parseBatchRequest(value: unknown, binaries: Binaries): ArrivedBatch {
  const exchange = parseExchangeRequest(value, binaries);
  const projects = projectsOf(value);
  if (projects === undefined || projects === null) return { exchange, parts: undefined, binaries };
  const path = "/crdt/projects";
  if (!isObject(projects)) throw invalid([{ path, message: "must be an object" }]);
  const parts = new Map(Object.entries(projects));
  const { projectsPerExchange } = LIMITS;
  if (parts.size > projectsPerExchange) {
    throw invalid([{ path, message: `must name at most ${projectsPerExchange} projects` }]);
  }
  return { exchange, parts, binaries };
}

/** Throws a 400 for a malformed part; `id`: its key in the body. */
export function parseProjectPart(id: ProjectId, value: unknown, binaries: Binaries): ProjectPart {
  const details: ErrorDetail[] = [];
  const body = tryWith(ProjectPartBody, value, details);
  const documents = body && documentsIn(body.documents, "/documents", { details, binaries });
  if (!documents || details.length > 0) throw invalid(details.map((each) => inPart(id, each)));
  return { ...(body.name !== undefined && { name: body.name }), documents };
}

/** Turns a place in a part into the place in the whole body. */
export function inPart(id: ProjectId, { path, message }: ErrorDetail): ErrorDetail {
  return { path: `/crdt/projects/${id}${path}`, message };
}

/**
 * Undefined: the service has no batches. Throws an `AppError` for a malformed answer. A malformed
 * or missing part counts as refused.
 */
export function parseBatchAnswer(
  value: unknown,
  asked: Iterable<ProjectId>,
): BatchAnswer | undefined {
  const { documents } = parseExchangeAnswer(value);
  const projects = projectsOf(value);
  if (!isObject(projects)) return undefined;
  const answers = [...asked].map((id) => [id, partAnswerIn(projects, id)] as const);
  return { documents, projects: new Map(answers) };
}

/** The projects of a body, of which nobody has looked at more than the envelope. */
function projectsOf(body: unknown): unknown {
  // The envelope was parsed from it, so it has `crdt`.
  return (body as { readonly crdt: { readonly projects?: unknown } }).crdt.projects;
}

function partAnswerIn(projects: Readonly<Record<string, unknown>>, id: ProjectId): PartAnswer {
  const status = ERROR_STATUS.internal;
  if (!Object.hasOwn(projects, id)) {
    return { kind: "refused", status, message: "the service's answer leaves it out" };
  }
  try {
    return parsePartAnswer(projects[id]);
  } catch (thrown) {
    const message = `the service's answer is not a replica exchange: ${messageOf(thrown)}`;
    return { kind: "refused", status, message };
  }
}

function parsePartAnswer(value: unknown): PartAnswer {
  const details: ErrorDetail[] = [];
  const body = tryWith(ProjectPartAnswerBody, value, details);
  if (body?.error) {
    const { code, message } = body.error;
    const status = Object.hasOwn(ERROR_STATUS, code) ? ERROR_STATUS[code] : ERROR_STATUS.internal;
    return { kind: "refused", status, message: `it answered ${status}: ${message}` };
  }
  if (body?.later === true) return { kind: "later" };
  const answer = body?.documents && documentAnswersIn(body.documents, "/documents", details);
  if (answer && details.length === 0) return { kind: "served", value: answer };
  throw invalid(details.length > 0 ? details : [{ path: "/documents", message: "is required" }]);
}
