import { Type } from "@sinclair/typebox";
import { AppError } from "../errors.ts";
import { type ProjectId, parseProjectId } from "../ids.ts";
import { Account } from "./account.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { ProjectIdText } from "./id.ts";
import { jsonObject } from "./json.ts";
import { Layer } from "./layer.ts";
import { parseWith } from "./parse.ts";
import { Epoch, type Position, Seq } from "./position.ts";
import { text } from "./text.ts";

/**
 * One of the three documents that concern a reader of a project; they have the names of the layers.
 */
export type LiveDocument = Layer;

/** How many projects one frame may name, and one socket subscribe to. */
export const LIVE_PROJECTS_MAX = 1000;

/** Largest update in a `changed` frame, in bytes. For a larger one only the position is sent. */
export const LIVE_UPDATE_BYTES_MAX = 16 * 1024;

/** The close code of a socket whose token was revoked or has expired. */
export const TOKEN_INVALID = 4401;

/** From the client: subscribes to these projects, too. */
export interface SubscribeFrame {
  readonly type: "subscribe";
  readonly projectIds: readonly ProjectId[];
  /** The client also wants to be told who shares its account. */
  readonly account?: true;
}

/**
 * From the server: the positions of the requested documents; by project id, or `user` or `global`.
 */
export interface SubscribedFrame {
  readonly type: "subscribed";
  readonly positions: ReadonlyMap<ProjectId | "user" | "global", Position>;
}

/** From the server: something was committed. */
export interface ChangedFrame {
  readonly type: "changed";
  /** Null for `user` and `global`. */
  readonly projectId: ProjectId | null;
  readonly document: LiveDocument;
  readonly epoch: string;
  readonly seq: number;
  /** The committed row's update, if it has at most `LIVE_UPDATE_BYTES_MAX`. */
  readonly update?: Uint8Array;
}

/** From the server, to a client that wants it: who shares the account now. */
export interface AccountFrame {
  readonly type: "account";
  readonly account: Account;
}

/** What a server sends on a live socket (contract, section 6). */
export type ServerFrame = SubscribedFrame | ChangedFrame | AccountFrame;

/** `SubscribeFrame` as it travels. */
export const SubscribeBody = Type.Object(
  {
    type: Type.Literal("subscribe", { expected: "subscribe" }),
    project_ids: Type.Array(ProjectIdText, {
      maxItems: LIVE_PROJECTS_MAX,
      expected: `an array of at most ${LIVE_PROJECTS_MAX} project ids`,
    }),
    account: Type.Optional(Type.Boolean({ description: "tell who shares the account, too" })),
  },
  { title: "LiveSubscribe" },
);

const PositionBody = Type.Object({ epoch: Epoch, seq: Seq }, { title: "Position" });

/** `SubscribedFrame` as it travels. */
export const SubscribedBody = Type.Object(
  {
    type: Type.Literal("subscribed"),
    positions: jsonObject<Record<string, unknown>>({
      additionalProperties: PositionBody,
      description: "by project id, and of `user` and `global`",
    }),
  },
  { title: "LiveSubscribed" },
);

/** `ChangedFrame` as it travels. */
export const ChangedBody = Type.Object(
  {
    type: Type.Literal("changed"),
    project_id: Type.Union([ProjectIdText, Type.Null()]),
    document: Layer,
    epoch: Epoch,
    seq: Seq,
    update: Type.Optional(text({}, { description: "the committed row's update, when small" })),
  },
  { title: "LiveChanged" },
);

/** `AccountFrame` as it travels. */
export const AccountBody = Type.Object(
  { type: Type.Literal("account"), account: Account },
  { title: "LiveAccount" },
);

/** The frame to send. With more than `LIVE_PROJECTS_MAX` ids the server closes the socket. */
export function encodeSubscribe(
  projectIds: readonly ProjectId[],
  { account = false }: { readonly account?: boolean } = {},
): string {
  return JSON.stringify({
    type: "subscribe",
    project_ids: projectIds,
    ...(account && { account }),
  });
}

/** Throws an `AppError` for anything but a client's frame. */
export function parseClientFrame(frame: string): SubscribeFrame {
  const { type, project_ids, account } = parseWith(SubscribeBody, parseJson(frame));
  return { type, projectIds: project_ids, ...(account === true && { account }) };
}

/** The frame to send: JSON, with updates in base64. */
export function encodeServerFrame(frame: ServerFrame): string {
  if (frame.type === "account") return JSON.stringify(frame);
  if (frame.type === "subscribed") {
    return JSON.stringify({ type: frame.type, positions: Object.fromEntries(frame.positions) });
  }
  const { type, projectId, document, epoch, seq, update } = frame;
  return JSON.stringify({
    type,
    project_id: projectId,
    document,
    epoch,
    seq,
    ...(update !== undefined && { update: encodeBase64(update) }),
  });
}

/**
 * Reads a server's frame, which is not trusted: throws an `AppError` for a malformed one. Undefined
 * for a type that this client does not know.
 */
export function parseServerFrame(frame: string): ServerFrame | undefined {
  const value = parseJson(frame);
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : null;
  if (type === "subscribed") return parseSubscribed(value);
  if (type === "account") return parseWith(AccountBody, value);
  return type === "changed" ? parseChanged(value) : undefined;
}

function parseSubscribed(value: unknown): SubscribedFrame {
  const { type, positions } = parseWith(SubscribedBody, value);
  const parsed: [ProjectId | "user" | "global", Position][] = [];
  for (const [name, position] of Object.entries(positions)) {
    const key = name === "user" || name === "global" ? name : parseProjectId(name);
    if (key !== undefined) parsed.push([key, parseWith(PositionBody, position)]);
  }
  return { type, positions: new Map(parsed) };
}

function parseChanged(value: unknown): ChangedFrame {
  const { project_id, update, ...rest } = parseWith(ChangedBody, value);
  if ((rest.document === "project") !== (project_id !== null)) {
    throw new AppError("invalid_request", "a frame names a project for its own document only");
  }
  const bytes = update === undefined ? undefined : decodeBase64(update);
  if (update !== undefined && bytes === undefined) {
    throw new AppError("invalid_request", "update is not base64");
  }
  return { ...rest, projectId: project_id, ...(bytes !== undefined && { update: bytes }) };
}

function parseJson(frame: string): unknown {
  try {
    return JSON.parse(frame);
  } catch {
    throw new AppError("invalid_request", "the frame is not JSON");
  }
}
