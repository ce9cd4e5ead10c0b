import type { TSchema } from "@sinclair/typebox";
import { unknownFields } from "../../../shared/wire/unknown-fields.ts";
import type { Operation } from "../../openapi/operation.ts";
import { METRICS_PATH } from "../../routes/health.ts";
import { MEMORY_FIELDS, SYNC_FIELDS } from "../../routes/published/published-fields.ts";
import { pathMatches } from "../faults/fault-paths.ts";
import { pathsNear } from "../faults/near-paths.ts";
import type { ServedRoute } from "../interface/emulator.ts";
import type { RequestEntry } from "./journal.ts";
import { knew } from "./known-ends.ts";
import { repeatedWrites, type Write, writeIn } from "./repeated-writes.ts";

/** What requests are judged by. */
export interface Rules {
  readonly routes: readonly ServedRoute[];
  readonly operations: readonly Operation[];
  /** Whether it is told what is beyond the specification. */
  readonly strict: boolean;
  /** Whether nothing beyond the specification is read. */
  readonly publishedOnly: boolean;
}

/** What is wrong with a request. */
export interface Wrong {
  readonly rule: string;
  readonly text: string;
}

/** What was wrong with each of these requests, which are all of some accounts, the oldest first. */
export function inspectEntries(
  entries: readonly RequestEntry[],
  rules: Rules,
): ReadonlyMap<RequestEntry, readonly Wrong[]> {
  const repeated = repeatedWrites(entries, {
    writeOf: (entry) => judged(entry, rules).write,
    publishedOnly: rules.publishedOnly,
  });
  return new Map(
    entries.map((entry) => {
      const { own } = judged(entry, rules);
      const text = repeated.get(entry);
      const again = text === undefined ? [] : [{ rule: "repeated-write", text }];
      return [entry, [...untimely(entry), ...hidden(entry, own), ...own, ...again]];
    }),
  );
}

/** Later it may be known that it was sent together with the other. */
function untimely(entry: RequestEntry): Wrong[] {
  const known = entry.violations.filter(({ earlier }) => knew(entry, earlier));
  return known.map(({ rule, text }) => ({ rule, text }));
}

/** The one path that only some callers may see: for others it does not exist. */
function hidden({ path, status }: RequestEntry, own: readonly Wrong[]): Wrong[] {
  const isHidden = path === METRICS_PATH && (status === 401 || status === 404);
  if (!isHidden || own.some(({ rule }) => rule === "unmatched")) return [];
  const text = `nothing serves GET ${path} to others than this machine, or by a proxy`;
  return [{ rule: "unmatched", text }];
}

/** What a request is by itself, whatever came before it. */
interface Judged {
  readonly body: Uint8Array | undefined;
  readonly own: readonly Wrong[];
  readonly write: Write | undefined;
}

/**
 * An open page asks again and again, while an emulator's rules never change: each request is judged
 * once.
 */
const known = new WeakMap<RequestEntry, Judged>();

function judged(entry: RequestEntry, rules: Rules): Judged {
  const before = known.get(entry);
  if (before && before.body === entry.body) return before;
  const body = parsedBody(entry);
  const own = wrongsOf(entry, body, rules);
  const found = { body: entry.body, own, write: writeIn(entry, body, rules) };
  known.set(entry, found);
  return found;
}

/** The body as JSON; undefined for none, or none that is known whole. */
export function parsedBody({ body, bodyBytes }: RequestEntry): unknown {
  if (!body || body.length < bodyBytes) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function wrongsOf(entry: RequestEntry, body: unknown, rules: Rules): Wrong[] {
  const method = entry.method === "HEAD" ? "GET" : entry.method;
  const known = rules.routes.filter(({ path }) => pathMatches(path, entry.path));
  const route =
    known.find((each) => each.method === method && each.path === entry.path) ??
    known.find((each) => each.method === method);
  if (!route && isBrowsers(entry)) return [];
  if (!route) return [{ rule: "unmatched", text: unmatched(entry, method, rules) }];
  const operation = rules.operations.find((each) => {
    return each.method.toUpperCase() === method && samePath(each.path, route.path);
  });
  if (!operation) return [];
  const schemas: readonly TSchema[] = operation.body?.schemas ?? [];
  const unknown = {
    fields: unknownFields(schemas, body),
    parameters: parametersOf(entry).filter((name) => {
      return !operation.parameters.some((each) => each.name === name);
    }),
  };
  const beyond = extensions(entry, body, { route, unknown });
  const ignored = rules.publishedOnly
    ? {
        fields: [...unknown.fields, ...beyond.fields],
        parameters: [...unknown.parameters, ...beyond.parameters],
      }
    : unknown;
  const wrongs = [
    ...ignored.fields.map((path) => ({
      rule: "unknown-field",
      text: `${path} is no field of ${method} ${route.path}: it is ignored`,
    })),
    ...ignored.parameters.map((name) => ({
      rule: "unknown-parameter",
      text: `${name} is no parameter of ${method} ${route.path}: it is ignored`,
    })),
  ];
  if (!rules.strict) return wrongs;
  // What nobody reads is told once.
  const told = rules.publishedOnly ? { fields: [], parameters: [] } : beyond;
  return [...wrongs, ...unpublished(entry, route, told)];
}

/**
 * Whether a browser asked for this by itself, as for a favicon: then it says nothing about the
 * program under test.
 */
function isBrowsers({ method, path, headers }: RequestEntry): boolean {
  const isPreflight = method === "OPTIONS" && headers.has("access-control-request-method");
  const isRead = method === "GET" || method === "HEAD";
  return isPreflight || (isRead && (path === "/" || path === "/favicon.ico"));
}

/** In one line, why nothing answers. */
function unmatched({ path }: RequestEntry, method: string, rules: Rules): string {
  const { routes, operations } = rules;
  const nothing = `nothing serves ${method} ${path}`;
  const trimmed = path.replace(/\/+$/, "");
  const methods = routes.filter((each) => pathMatches(each.path, path)).map((each) => each.method);
  if (methods.length > 0) return `${nothing}: the path takes ${methods.join(", ")}`;
  if (trimmed !== path && routes.some((each) => pathMatches(each.path, trimmed))) {
    return `${nothing}: ${trimmed}, without the slash at its end, is served`;
  }
  const described = operations.map((each) => each.path.replaceAll(/\{(\w+)\}/g, ":$1"));
  if (described.some((each) => pathMatches(each, path))) {
    return `${nothing}: it is beyond the specification, which alone is served`;
  }
  const near = pathsNear(trimmed, [...new Set(routes.map((each) => each.path))]);
  if (near.length === 0) return nothing;
  return `${nothing}: ${near.join(" and ")} ${near.length === 1 ? "is" : "are"} served`;
}

const UNPUBLISHED_HEADERS = ["x-project-id", "idempotency-key"] as const;

/** Fields, as JSON pointers, and parameters of a request. */
interface Named {
  readonly fields: readonly string[];
  readonly parameters: readonly string[];
}

/** What memsync reads and the specification does not have. What nobody knows is no extension. */
function extensions(
  entry: RequestEntry,
  body: unknown,
  { route, unknown }: { readonly route: ServedRoute; readonly unknown: Named },
): Named {
  if (!route.published) return { fields: [], parameters: [] };
  const published = publishedFieldsOf(route.path)?.map((name) => `/${name}`);
  const own = typeof body === "object" && body !== null ? Object.keys(body) : [];
  const isKnown = (name: string) => published?.includes(name) || unknown.fields.includes(name);
  return {
    fields: published ? own.map((name) => `/${name}`).filter((name) => !isKnown(name)) : [],
    parameters: parametersOf(entry).filter((name) => !unknown.parameters.includes(name)),
  };
}

/** What other services of the specification would not know. */
function unpublished(entry: RequestEntry, route: ServedRoute, beyond: Named): Wrong[] {
  const { method, path } = route;
  if (!route.published) {
    return [{ rule: "unpublished-path", text: `${method} ${path} is an extension` }];
  }
  return [
    ...beyond.parameters.map((name) => ({
      rule: "unpublished-parameter",
      text: `the parameter ${name} of ${method} ${path} is an extension`,
    })),
    ...beyond.fields.map((name) => ({
      rule: "unpublished-field",
      text: `${name} in ${method} ${path} is an extension`,
    })),
    ...UNPUBLISHED_HEADERS.filter((name) => entry.headers.has(name)).map((name) => ({
      rule: "unpublished-header",
      text: `the header ${name} is an extension`,
    })),
  ];
}

/** Undefined where the specification shows no body. */
function publishedFieldsOf(path: string): readonly string[] | undefined {
  if (path === "/v1/memories") return MEMORY_FIELDS;
  return path.endsWith("/sync") ? SYNC_FIELDS : undefined;
}

function parametersOf({ query }: RequestEntry): string[] {
  return [...new Set(new URLSearchParams(query).keys())];
}

/** The description writes `{id}`, the router `:id`. */
function samePath(described: string, served: string): boolean {
  return described.replaceAll(/\{\w+\}/g, ":id") === served.replaceAll(/:\w+/g, ":id");
}
