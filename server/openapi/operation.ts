import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../shared/errors.ts";

/** The parts of the interface, in the order in which they are shown. */
export const TAGS = {
  Memories: "Short texts, one by one, in three layers: a project's, a user's, the account's.",
  Projects: "What is synchronised: a description document, memories and metadata.",
  Sync: "Plain sync for any client; replica exchange for those that keep a whole copy.",
  Connections: "Two projects of an account that see each other's memories.",
  Sessions: "Sessions of coding assistants.",
  Usage: "What is stored, and what was asked.",
  Live: "Hearing of changes instead of asking for them.",
  Service: "For whoever runs the service, and this description. None of it is ever charged.",
} as const;

/** A named example, valid by the schema that it stands beside. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** By a name that is unique within one body. */
export type Examples = Readonly<Record<string, Example>>;

/** One shape of a body, with examples. A body may have several shapes. */
export interface BodyContent {
  readonly schemas: readonly [TSchema, ...TSchema[]];
  readonly examples: Examples;
  /** `application/json` when left out. */
  readonly mediaType?: string;
}

/** A parameter outside of the body. */
export interface Parameter {
  /** Of its component. */
  readonly id: string;
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: TSchema;
  readonly example: string | number;
}

/** How a 200 may be cached: reads have an `ETag`, pages of a list a `Link` as well. */
export type Kind = "read" | "page" | "write" | "document";

/**
 * One method of one path, with everything that the description says about it.
 *
 * ```
 * const getAccount: Operation = {
 *   id: "apiGetAccount",
 *   method: "get",
 *   path: "/api/account",
 *   tag: "Usage",
 *   summary: "Read who shares the account",
 *   description: "The account's name, plan and number of users.",
 *   parameters: [parameters.ifNoneMatch],
 *   answer: { kind: "read", schemas: [Account], examples: {} },
 *   refusals: [],
 * };
 * ```
 */
export interface Operation {
  /** Begins with the variant; the rest is the client's method name. */
  readonly id: string;
  readonly method: "get" | "post" | "delete";
  /** `/v1/memories/{id}` */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  /** Markdown: paragraphs, lists, `code`. */
  readonly description: string;
  /** Needs no token and is not charged. */
  readonly open?: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: BodyContent & { readonly required: boolean };
  /** The 200; undefined where the only success is 101. */
  readonly answer: (BodyContent & { readonly kind: Kind }) | undefined;
  /** Its refusals, besides those of every operation. */
  readonly refusals: readonly ErrorCode[];
  /** Further answers and extensions of this operation only. */
  readonly more?: {
    readonly answers?: Readonly<Record<string, object>>;
    /** Frames of the socket that a 101 opens. */
    readonly frames?: { readonly client: readonly TSchema[]; readonly server: readonly TSchema[] };
  };
}
