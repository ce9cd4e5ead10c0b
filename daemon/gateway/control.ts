import { AppError } from "../../shared/errors.ts";
import { type AccountId, asAccountId, type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { isObject } from "../../shared/json.ts";
import type { Reason } from "../../shared/reasons.ts";
import { ALSO_NAMES, FOLLOWED_NAMES, type FollowedName } from "../disk/followable-files.ts";
import type { AlsoName } from "../files/names/also-file.ts";
import type { Allows } from "../held/judge.ts";
import type { RemoteChange } from "../remotes/remote-change.ts";
import type { Failure } from "../service/failure.ts";

/** Answers one of the daemon's own calls, named by what follows `/_memsync/`. */
export type Control = (name: string, request: Request) => Promise<Response>;

/** What the daemon's own calls can ask of it. Answers are sent as JSON, unchanged. */
export interface Controlled {
  /** Who answers, so that a caller can check that both understand each other. */
  readonly introduction: object;
  status(): Promise<object>;
  link(
    dir: string,
    options: {
      readonly id?: ProjectId;
      readonly write?: boolean;
      readonly file?: FollowedName;
      readonly remote?: string;
      readonly anew?: boolean;
      readonly allows?: Allows;
      readonly ofAnother?: boolean;
      readonly everywhere?: boolean;
      readonly sendIgnored?: readonly string[];
      readonly more?: boolean;
    },
  ): Promise<object>;
  unlink(dir: string): Promise<boolean>;
  /** Syncs a project that is not linked here with its service once. */
  visit(project: ProjectId): Promise<void>;
  /**
   * Somebody works in a folder. Resolves to its former path if it was a linked folder that was
   * moved.
   */
  found(dir: string): Promise<object | undefined>;
  /** `signal` is aborted when the caller has gone away. */
  sync(
    waitSeconds: number,
    options: {
      readonly signal: AbortSignal;
      readonly goOn: boolean;
      readonly unlessOffline: boolean;
      readonly unlessBusy: boolean;
    },
  ): Promise<object>;
  waitForDue(
    waitSeconds: number,
    options: { readonly signal: AbortSignal; readonly unlessBusy: boolean },
  ): Promise<object>;
  drainInbox(): Promise<number>;
  /**
   * Begins to read transcripts now, and waits for none. The session whose transcript is at the path
   * `ended` is over.
   */
  lookAtSessions(ended?: string): void;
  listRemotes(): Promise<readonly object[]>;
  /** The gateway's token for the remote of this name only. */
  tokenOf(remote: string): string;
  changeRemotes(change: RemoteChange): Promise<object>;
  /** Imports an export; refuses anything else. */
  importHome(document: unknown): Promise<object>;
  /** The service's answer to a `GET`, or why there is none. */
  askService(path: string): Promise<object>;
  /** Who can read an account's `global`; null: nobody else. */
  audience(account: AccountId, isWritten: boolean): Promise<object | null>;
  /** Why the service refused the last call about a project; null where it did not. */
  refusal(project: ProjectId): Reason | null;
  /** Why no call at all is made for an account; null where calls are. */
  blocked(account: AccountId): Failure | null;
  requestStop(): void;
}

/**
 * The daemon's own calls, which only the command line makes. They are not part of the interface.
 */
export function createControl(daemon: () => Controlled): Control {
  return async (name, request) => {
    const call = `${request.method} ${name}`;
    const body = request.method === "POST" ? await bodyOf(request) : {};
    switch (call) {
      case "GET daemon":
        return Response.json(daemon().introduction);
      case "GET status":
        return Response.json(await daemon().status());
      case "POST link":
        return Response.json(await daemon().link(textOf(body, "dir"), linkOptionsOf(body)));
      case "POST unlink":
        return Response.json({ unlinked: await daemon().unlink(textOf(body, "dir")) });
      case "POST visit":
        await daemon().visit(projectIn(body));
        return Response.json({});
      case "POST found":
        return Response.json({ moved: (await daemon().found(textOf(body, "dir"))) ?? null });
      case "POST sync":
        return Response.json(
          await daemon().sync(numberOf(body, "wait_seconds"), {
            signal: request.signal,
            goOn: body.go_on === true,
            unlessOffline: body.unless_offline === true,
            unlessBusy: body.unless_busy === true,
          }),
        );
      case "POST wait":
        return Response.json(
          await daemon().waitForDue(numberOf(body, "wait_seconds"), {
            signal: request.signal,
            unlessBusy: body.unless_busy === true,
          }),
        );
      case "POST inbox":
        return Response.json({ drained: await daemon().drainInbox() });
      case "POST sessions":
        daemon().lookAtSessions(typeof body.ended === "string" ? body.ended : undefined);
        return Response.json({});
      case "GET remotes":
        return Response.json(await daemon().listRemotes());
      case "POST remotes":
        // Only this home's command line can call this, and it built the change from what was typed.
        return Response.json(await daemon().changeRemotes(body as unknown as RemoteChange));
      case "POST token":
        return Response.json({ token: daemon().tokenOf(textOf(body, "remote")) });
      case "POST import":
        return Response.json(await daemon().importHome(body));
      case "POST ask":
        return Response.json(await daemon().askService(textOf(body, "path")));
      case "POST audience":
        return Response.json({
          audience: await daemon().audience(
            asAccountId(textOf(body, "account")),
            body.shown !== true,
          ),
        });
      case "POST refusal":
        return Response.json(refusalFor(daemon(), body));
      case "POST stop":
        daemon().requestStop();
        return Response.json({ stopping: true });
      default:
        throw new AppError("not_found", "the daemon has no such call");
    }
  };
}

type LinkOptions = Parameters<Controlled["link"]>[1];

function linkOptionsOf(body: Readonly<Record<string, unknown>>): LinkOptions {
  return {
    ...(typeof body.id === "string" && { id: projectIdOf(body.id) }),
    ...(typeof body.write === "boolean" && { write: body.write }),
    ...(typeof body.file === "string" && { file: fileOf(body.file) }),
    ...(body.also !== undefined && { also: alsoOf(body.also) }),
    ...(typeof body.remote === "string" && { remote: body.remote }),
    ...(body.anew === true && { anew: true }),
    ...((body.allowSecret === true || body.allowPersonal === true) && {
      allows: {
        allowSecret: body.allowSecret === true,
        allowPersonal: body.allowPersonal === true,
      },
    }),
    ...(body.ofAnother === true && { ofAnother: true }),
    ...(body.everywhere === true && { everywhere: true }),
    ...(Array.isArray(body.sendIgnored) && { sendIgnored: body.sendIgnored.map(String) }),
    ...(body.more === true && { more: true }),
  };
}

async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = JSON.parse((await request.text()) || "{}");
    if (isObject(body)) return body;
  } catch {
    // Refused below, like any other bad call.
  }
  throw new AppError("invalid_request", "the body must be a JSON object");
}

function textOf(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field];
  if (typeof value === "string") return value;
  throw new AppError("invalid_request", `${field} must be a string`);
}

function numberOf(body: Readonly<Record<string, unknown>>, field: string): number {
  const value = body[field];
  if (typeof value === "number") return value;
  throw new AppError("invalid_request", `${field} must be a number`);
}

function fileOf(text: string): FollowedName {
  const name = FOLLOWED_NAMES.find((each) => each === text);
  if (name !== undefined) return name;
  throw new AppError("invalid_request", `file is one of ${FOLLOWED_NAMES.join(", ")}`);
}

function alsoOf(value: unknown): AlsoName[] {
  const names = Array.isArray(value) ? value : [value];
  return names.map((each) => {
    const name = ALSO_NAMES.find((known) => known === each);
    if (name !== undefined) return name;
    throw new AppError("invalid_request", `also is of ${ALSO_NAMES.join(", ")}`);
  });
}

/** Why a call about what is written into a document was refused, or why none is made. */
function refusalFor(daemon: Controlled, body: Readonly<Record<string, unknown>>) {
  return {
    refused: body.project === undefined ? null : daemon.refusal(projectIn(body)),
    blocked: daemon.blocked(asAccountId(textOf(body, "account"))),
  };
}

function projectIn(body: Readonly<Record<string, unknown>>): ProjectId {
  return projectIdOf(textOf(body, "project"));
}

function projectIdOf(text: string) {
  const id = parseProjectId(text);
  if (id !== undefined) return id;
  throw new AppError("invalid_request", "a project id is proj_ and 1 to 64 of [0-9A-Za-z_-]");
}
