import type { Answer, Fault, Incoming, Pass } from "./breaking-proxy.ts";

/** A body of whichever kind; a fault looks at what the path's answers have. */
interface Body {
  readonly id: string;
  readonly content: string;
  readonly layer: string;
  readonly created_at: string;
  readonly project_id: string;
  readonly total: number;
  readonly claude_md_content: string;
  readonly memories: readonly Memory[];
  readonly projects: readonly { readonly id: string }[];
}

/** A memory of a project or of a list, and in a refused request anything like it. */
interface Memory {
  readonly id: string;
  readonly key: unknown;
  readonly value: unknown;
  readonly created_at: string;
}

/** `POST /api/projects/:id/sync` of any project, but for the 401s that name none. */
export const SYNC = /^\/api\/projects\/proj_[^/]+\/sync$/;
/** `GET /api/projects/:id` of any project. */
export const PROJECT = /^\/api\/projects\/proj_[^/]+$/;

/** For requests of a method to paths of a form; all others are passed on. */
export function on(method: string, path: string | RegExp, fault: Fault): Fault {
  const matches = (asked: string) => (typeof path === "string" ? path === asked : path.test(asked));
  return (request, pass) =>
    request.method === method && matches(request.path) ? fault(request, pass) : pass();
}

/** Changes the body of a successful answer. */
export function answering(change: (body: Body) => unknown): Fault {
  return async (_request, pass) => {
    const answer = await pass();
    if (answer.status !== 200) return answer;
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body) as Body)) };
  };
}

/** Changes the body of a request that is well formed, before it is served. */
export function asking(change: (body: Body) => unknown): Fault {
  return async (request, pass) => {
    const body = parse(request);
    return await pass(body && { body: JSON.stringify(change(body as Body)) });
  };
}

/** Answers of one status get another. */
export function instead(status: number, other: number): Fault {
  return async (_request, pass) => {
    const answer = await pass();
    return answer.status === status ? { ...answer, status: other } : answer;
  };
}

/** An answer of JSON. */
export function json(status: number, body: unknown): Answer {
  return { status, type: "application/json", body: JSON.stringify(body) };
}

/** Changes the memories of a sync one by one. */
export function memoriesAsking(change: (memory: Memory) => object): Fault {
  return asking((body) =>
    Array.isArray(body.memories) ? { ...body, memories: body.memories.map(change) } : body,
  );
}

/** Changes the values of a sync that are text. */
export function valuesAsking(change: (value: string) => string): Fault {
  return memoriesAsking(({ key, value }) => {
    return { key, value: typeof value === "string" ? change(value) : value };
  });
}

/** Deletes the memories of a project for which `isDoomed` holds. */
export async function deleteMemories(
  pass: Pass,
  project: string,
  isDoomed: (memory: Memory) => boolean = () => true,
): Promise<void> {
  const shown = parse(await pass({ method: "GET", path: project, body: "" }));
  for (const memory of shown?.memories?.filter(isDoomed) ?? []) {
    await pass({ method: "DELETE", path: `/v1/memories/${memory.id}`, body: "" });
  }
}

/** The body as an object; undefined for any other. */
export function parse({ body }: Pick<Incoming, "body">): Partial<Body> | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
