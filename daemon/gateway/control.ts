import { AppError } from "../../shared/errors.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import type { RemoteChange } from "../remotes/remote-change.ts";

/** Answers one of the daemon's own calls, named by what follows `/_memsync/`. */
export type Control = (name: string, request: Request) => Promise<Response>;

/** What of the daemon its own calls reach. Answers go out as JSON, as they are. */
export interface Controlled {
  /** Who answers, for whoever wants to know whether they understand each other. */
  readonly introduction: object;
  status(): Promise<object>;
  link(
    dir: string,
    options: { readonly id?: ProjectId; readonly write?: boolean; readonly remote?: string },
  ): Promise<object>;
  unlink(dir: string): Promise<boolean>;
  /** `signal` is aborted when nobody waits for the answer any more. */
  sync(waitSeconds: number, signal: AbortSignal): Promise<object>;
  settle(waitSeconds: number, signal: AbortSignal): Promise<object>;
  drainInbox(): Promise<number>;
  listRemotes(): Promise<readonly object[]>;
  changeRemotes(change: RemoteChange): Promise<object>;
  /** Takes over what an export holds; refuses anything else. */
  importHome(document: unknown): Promise<object>;
  /** The service's own answer to a `GET`, or why there is none. */
  askService(path: string): Promise<object>;
  requestStop(): void;
}

/** The daemon's own calls: what the command line asks beyond the interface. */
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
        return Response.json(
          await daemon().link(textOf(body, "dir"), {
            ...(typeof body.id === "string" && { id: projectIdOf(body.id) }),
            ...(typeof body.write === "boolean" && { write: body.write }),
            ...(typeof body.remote === "string" && { remote: body.remote }),
          }),
        );
      case "POST unlink":
        return Response.json({ unlinked: await daemon().unlink(textOf(body, "dir")) });
      case "POST sync":
        return Response.json(await daemon().sync(numberOf(body, "wait_seconds"), request.signal));
      case "POST settle":
        return Response.json(await daemon().settle(numberOf(body, "wait_seconds"), request.signal));
      case "POST inbox":
        return Response.json({ drained: await daemon().drainInbox() });
      case "GET remotes":
        return Response.json(await daemon().listRemotes());
      case "POST remotes":
        // Only the home's own command line gets here, and it made this of what was typed.
        return Response.json(await daemon().changeRemotes(body as unknown as RemoteChange));
      case "POST import":
        return Response.json(await daemon().importHome(body));
      case "POST ask":
        return Response.json(await daemon().askService(textOf(body, "path")));
      case "POST stop":
        daemon().requestStop();
        return Response.json({ stopping: true });
      default:
        throw new AppError("not_found", "the daemon has no such call");
    }
  };
}

async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = JSON.parse((await request.text()) || "{}");
    if (typeof body === "object" && body !== null) return body as Record<string, unknown>;
  } catch {
    // Falls through to the one refusal below.
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

function projectIdOf(text: string) {
  const id = parseProjectId(text);
  if (id !== undefined) return id;
  throw new AppError("invalid_request", "a project id is proj_ and 1 to 64 of [0-9A-Za-z_-]");
}
