import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../errors.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { LAYERS, type Layer } from "./layer.ts";
import { invalid, parseWith } from "./parse.ts";
import { Epoch, type Position, Seq } from "./position.ts";
import { type SessionUpload, sessionUploadOf } from "./session.ts";
import { refuseDoubles, SessionsBody } from "./sync.ts";
import { text } from "./text.ts";

/** One side's message about one document: its position, and what it sends. */
export interface DocumentRequest {
  /** The position in the server's log up to which the client has integrated everything. */
  readonly position?: Position;
  /** Yjs state vector (v1); sent when no position is known. */
  readonly stateVector?: Uint8Array;
  /** Yjs update (v1). */
  readonly update?: Uint8Array;
}

/** A sync body with `crdt`, its base64 decoded. */
export interface ExchangeRequest {
  readonly documents: { readonly [document in Layer]?: DocumentRequest };
  readonly sessions?: readonly SessionUpload[];
}

/** The work that a document's update took, which is not told to the client. */
interface Searched {
  /** How many other insertions were passed in the search for the places of its own. */
  readonly searched?: number;
}

/** The document was served. An empty one has epoch "" and seq 0. */
export interface DocumentServed extends Searched {
  readonly epoch: string;
  readonly seq: number;
  /** What the client lacks. */
  readonly update?: Uint8Array;
  /** With `reset` or `missing`: what the server has. */
  readonly stateVector?: Uint8Array;
  /** The server never reached the client's position: both sides exchange everything. */
  readonly reset?: true;
  /** The client's update depends on something missing here, and was not applied. */
  readonly missing?: true;
}

/** The token may not read it. */
export interface DocumentForbidden {
  readonly forbidden: true;
}

/** The update was not admitted, and changed nothing. */
export interface DocumentRefused extends Searched {
  readonly refused: { readonly message: string };
}

/** The outcome for one document of an exchange. Each has its own. */
export type DocumentAnswer = DocumentServed | DocumentForbidden | DocumentRefused;

/** The answer's documents, with decoded base64. Absent ones were not requested. */
export interface ExchangeAnswer {
  readonly documents: { readonly [document in Layer]?: DocumentAnswer };
}

/** The only encoding of updates in the interface. */
export const ENCODING = "yjs-v1";

const StateVector = text({}, { description: "a Yjs state vector in base64" });
const Update = text({}, { description: "a Yjs update of encoding v1 in base64" });

/** One document of the envelope, as it travels. */
export const DocumentBody = Type.Object(
  {
    epoch: Type.Optional(Epoch),
    seq: Type.Optional(Seq),
    state_vector: Type.Optional(StateVector),
    update: Type.Optional(Update),
  },
  { title: "DocumentRequest", description: "where a client stands, and what it brings" },
);

function documentsBodyOf<T extends typeof DocumentBody | typeof DocumentAnswerBody>(document: T) {
  return Type.Object({
    project: Type.Optional(document),
    user: Type.Optional(document),
    global: Type.Optional(document),
  });
}

/** The documents of a request, as they travel. */
export const DocumentsBody = documentsBodyOf(DocumentBody);

const EncodingBody = Type.Literal(ENCODING, { expected: ENCODING });

/** A sync body that carries a replica exchange. */
export const ExchangeBody = Type.Object(
  {
    crdt: Type.Object({ encoding: EncodingBody, documents: DocumentsBody }),
    sessions: Type.Optional(SessionsBody),
  },
  { title: "Exchange" },
);

/** What became of one document, as it travels. */
export const DocumentAnswerBody = Type.Object(
  {
    epoch: Type.Optional(Epoch),
    seq: Type.Optional(Seq),
    state_vector: Type.Optional(StateVector),
    update: Type.Optional(Update),
    reset: Type.Optional(
      Type.Boolean({ description: "the server was never at that position: exchange everything" }),
    ),
    missing: Type.Optional(
      Type.Boolean({ description: "the update builds on something that is lacking here" }),
    ),
    forbidden: Type.Optional(Type.Boolean({ description: "not for this token" })),
    refused: Type.Optional(
      Type.Object({ message: Type.String() }, { description: "the update changed nothing" }),
    ),
  },
  { title: "DocumentAnswer", description: "what became of one document" },
);

/** What became of the documents of a request, as it travels. */
export const DocumentsAnswerBody = documentsBodyOf(DocumentAnswerBody);

/** The answer to a replica exchange. */
export const ExchangeAnswerBody = Type.Object(
  { crdt: Type.Object({ encoding: EncodingBody, documents: DocumentsAnswerBody }) },
  { title: "ExchangeAnswer" },
);

/** Fields of a plain sync, which are refused beside `crdt`. */
const PLAIN_FIELDS = ["claude_md_content", "memories", "metadata"] as const;

/** Whether a sync body asks for a replica exchange. */
export function isExchangeBody(value: unknown): boolean {
  return typeof value === "object" && value !== null && "crdt" in value && value.crdt !== null;
}

/** The bytes of long texts in base64, decoded already, by what stands for each in a body. */
export type Binaries = ReadonlyMap<string, Uint8Array>;

const NO_BINARIES: Binaries = new Map();

/** What a body is read with. Errors are added to `details`. */
export interface Reading {
  readonly details: ErrorDetail[];
  readonly binaries: Binaries;
}

/** The body to send, ready for `JSON.stringify`. */
export function encodeExchangeRequest(request: ExchangeRequest): Static<typeof ExchangeBody> {
  const documents = encodeDocuments(request.documents);
  const sessions = request.sessions?.map(withoutNulls);
  return { crdt: { encoding: ENCODING, documents }, ...(sessions && { sessions }) };
}

/** The documents of a request, ready for `JSON.stringify`. */
export function encodeDocuments(
  documents: ExchangeRequest["documents"],
): Static<typeof DocumentsBody> {
  const encoded: Partial<Record<Layer, Static<typeof DocumentBody>>> = {};
  for (const layer of LAYERS) {
    const document = documents[layer];
    if (document === undefined) continue;
    encoded[layer] = { ...document.position, ...encodeBinaries(document) };
  }
  return encoded;
}

/** Throws a 400 for a malformed envelope. */
export function parseExchangeRequest(
  value: unknown,
  binaries: Binaries = NO_BINARIES,
): ExchangeRequest {
  const details: ErrorDetail[] = [];
  const { crdt, sessions } = parseWith(ExchangeBody, value);
  for (const field of PLAIN_FIELDS) {
    // The envelope was parsed from it, so it is an object.
    if ((value as Record<string, unknown>)[field] != null) {
      details.push({ path: `/${field}`, message: "must not come beside crdt" });
    }
  }
  refuseDoubles(sessions ?? [], ({ id }) => id, { path: "/sessions", field: "id", details });
  const documents = documentsIn(crdt.documents, "/crdt/documents", { details, binaries });
  if (details.length > 0) throw invalid(details);
  return { documents, ...(sessions && { sessions: sessions.map(sessionUploadOf) }) };
}

/** Reads the documents of a request's body. */
export function documentsIn(
  body: Static<typeof DocumentsBody>,
  path: string,
  reading: Reading,
): ExchangeRequest["documents"] {
  const documents: Partial<Record<Layer, DocumentRequest>> = {};
  for (const layer of LAYERS) {
    const document = body[layer];
    if (document === undefined) continue;
    const at = `${path}/${layer}`;
    documents[layer] = {
      ...positionOf(document, at, reading.details),
      ...binariesOf(document, at, reading),
    };
  }
  return documents;
}

/** The answer to send, ready for `JSON.stringify`. */
export function encodeExchangeAnswer(answer: ExchangeAnswer): Static<typeof ExchangeAnswerBody> {
  return { crdt: { encoding: ENCODING, documents: encodeDocumentAnswers(answer) } };
}

/** The documents of an answer, ready for `JSON.stringify`. */
export function encodeDocumentAnswers(answer: ExchangeAnswer): Static<typeof DocumentsAnswerBody> {
  const documents: Partial<Record<Layer, Static<typeof DocumentAnswerBody>>> = {};
  for (const layer of LAYERS) {
    const document = answer.documents[layer];
    if (document !== undefined) documents[layer] = encodeDocumentAnswer(document);
  }
  return documents;
}

function encodeDocumentAnswer(answer: DocumentAnswer): Static<typeof DocumentAnswerBody> {
  if ("forbidden" in answer) return { forbidden: true };
  if ("refused" in answer) return { refused: { message: answer.refused.message } };
  const { epoch, seq, reset, missing } = answer;
  return {
    epoch,
    seq,
    ...(reset && { reset }),
    ...(missing && { missing }),
    ...encodeBinaries(answer),
  };
}

/** Throws an `AppError` for a malformed answer: the server is not trusted either. */
export function parseExchangeAnswer(value: unknown): ExchangeAnswer {
  const details: ErrorDetail[] = [];
  const { crdt } = parseWith(ExchangeAnswerBody, value);
  const answer = documentAnswersIn(crdt.documents, "/crdt/documents", details);
  if (details.length > 0) throw invalid(details);
  return answer;
}

/** Reads the documents of an answer's body. Errors are added to `details`. */
export function documentAnswersIn(
  body: Static<typeof DocumentsAnswerBody>,
  path: string,
  details: ErrorDetail[],
): ExchangeAnswer {
  const documents: Partial<Record<Layer, DocumentAnswer>> = {};
  for (const layer of LAYERS) {
    const document = body[layer];
    if (document === undefined) continue;
    documents[layer] = documentAnswerOf(document, `${path}/${layer}`, details);
  }
  return { documents };
}

function documentAnswerOf(
  body: Static<typeof DocumentAnswerBody>,
  path: string,
  details: ErrorDetail[],
): DocumentAnswer {
  if (body.forbidden === true) return { forbidden: true };
  if (body.refused !== undefined) return { refused: body.refused };
  const { position } = positionOf(body, path, details);
  if (position === undefined) details.push({ path: `${path}/epoch`, message: "is required" });
  return {
    epoch: position?.epoch ?? "",
    seq: position?.seq ?? 0,
    ...binariesOf(body, path, { details, binaries: NO_BINARIES }),
    ...(body.reset === true && { reset: true }),
    ...(body.missing === true && { missing: true }),
  };
}

function positionOf(
  { epoch, seq }: { readonly epoch?: string; readonly seq?: number },
  path: string,
  details: ErrorDetail[],
): { position?: Position } {
  if (epoch !== undefined && seq !== undefined) return { position: { epoch, seq } };
  if (epoch !== undefined) details.push({ path: `${path}/seq`, message: "is required with epoch" });
  if (seq !== undefined) details.push({ path: `${path}/epoch`, message: "is required with seq" });
  return {};
}

function binariesOf(
  body: { readonly state_vector?: string; readonly update?: string },
  path: string,
  reading: Reading,
): { stateVector?: Uint8Array; update?: Uint8Array } {
  const stateVector = bytesOf(body.state_vector, `${path}/state_vector`, reading);
  const update = bytesOf(body.update, `${path}/update`, reading);
  return { ...(stateVector && { stateVector }), ...(update && { update }) };
}

function bytesOf(
  encoded: string | undefined,
  path: string,
  { details, binaries }: Reading,
): Uint8Array | undefined {
  if (encoded === undefined) return undefined;
  const bytes = binaries.get(encoded) ?? decodeBase64(encoded);
  if (bytes === undefined) details.push({ path, message: "must be base64" });
  return bytes;
}

function encodeBinaries({
  stateVector,
  update,
}: {
  readonly stateVector?: Uint8Array;
  readonly update?: Uint8Array;
}): { state_vector?: string; update?: string } {
  return {
    ...(stateVector && { state_vector: encodeBase64(stateVector) }),
    ...(update && { update: encodeBase64(update) }),
  };
}

/** The form for the interface, in which null values are left out. */
function withoutNulls(session: SessionUpload): Static<typeof SessionsBody>[number] {
  const { title, ended_at, model, git_branch, machine, ...rest } = session;
  return {
    ...rest,
    ...(title !== null && { title }),
    ...(ended_at !== null && { ended_at }),
    ...(model !== null && { model }),
    ...(git_branch !== null && { git_branch }),
    ...(machine !== null && { machine }),
  };
}
