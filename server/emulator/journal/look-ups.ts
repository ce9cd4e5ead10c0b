import type { RequestEntry } from "./journal.ts";

/** Where a memory was to be written. */
export interface Target {
  readonly layer: string;
  /** Undefined where it goes without saying, as the account's only one. */
  readonly project: string | undefined;
}

/** Where a body of `POST /v1/memories` is to be written, with the project that its header names. */
export function targetIn(body: object, headerProject: string | undefined): Target {
  // Any object has fields of some names.
  const { layer = "project", project_id: own } = body as Readonly<Record<string, unknown>>;
  return { layer: String(layer), project: typeof own === "string" ? own : headerProject };
}

/**
 * Whether this request has shown its client what a target holds, as a function of the target;
 * undefined if it showed nothing. With `publishedOnly` parameters are not read, so they narrow no
 * list.
 */
export function lookedUp(
  entry: RequestEntry,
  { publishedOnly }: { readonly publishedOnly: boolean },
): ((written: Target) => boolean) | undefined {
  const { method, status, path, query, headers, aborted, harm } = entry;
  const isTold = (status === 200 || status === 304) && !aborted && harm === undefined;
  if (!isTold) return undefined;
  if (method === "POST") return shownOf(SYNC.exec(path));
  if (method !== "GET") return undefined;
  if (path === "/v1/memories") {
    if (publishedOnly) return () => true;
    const asked = new URLSearchParams(query);
    const layer = asked.get("layer") ?? undefined;
    const project = asked.get("project_id") ?? headers.get("x-project-id") ?? undefined;
    return (written) => {
      if (!isMaybe(layer, written.layer)) return false;
      return written.layer !== "project" || isMaybe(project, written.project);
    };
  }
  return shownOf(PROJECTS.exec(path));
}

/** Its answer has the memories of the project's own layer. */
const SYNC = /^\/(?:v1|api)\/projects\/(proj_[^/]+)\/sync$/;

/** One project, or the list, which says how many memories each has. */
const PROJECTS = /^\/(?:v1|api)\/projects(?:\/(proj_[^/]+))?$/;

function shownOf(found: RegExpExecArray | null): ((written: Target) => boolean) | undefined {
  if (!found) return undefined;
  const [, project] = found;
  return (written) => written.layer === "project" && isMaybe(project, written.project);
}

/** Whether two names may mean the same: a name that was left out may be any. */
function isMaybe(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
