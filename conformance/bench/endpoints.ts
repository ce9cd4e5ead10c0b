/** An endpoint as the specification lists it. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  /** With the base address's prefix, and `:id` for an identifier. */
  readonly path: string;
}

/** All endpoints of the specification (section 4), variant A and then variant B. */
export const ENDPOINTS: readonly Endpoint[] = [
  { method: "GET", path: "/v1/memories" },
  { method: "POST", path: "/v1/memories" },
  { method: "DELETE", path: "/v1/memories/:id" },
  { method: "GET", path: "/v1/projects" },
  { method: "GET", path: "/v1/projects/:id" },
  { method: "POST", path: "/v1/projects/:id/sync" },
  { method: "GET", path: "/v1/sessions" },
  { method: "GET", path: "/v1/sessions/:id" },
  { method: "GET", path: "/api/projects" },
  { method: "POST", path: "/api/projects" },
  { method: "GET", path: "/api/projects/:id" },
  { method: "POST", path: "/api/projects/:id/sync" },
  { method: "POST", path: "/api/projects/connect" },
  { method: "GET", path: "/api/projects/stats" },
];

/** The endpoint of rules that concern all of them. */
export const EVERY_ENDPOINT = "every endpoint";

/** `GET /v1/memories`, as reports name it. */
export function nameOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}

/** Whether a request is one to this endpoint. A fixed path takes precedence over `:id`. */
export function isRequestTo(endpoint: Endpoint, method: string, path: string): boolean {
  return findEndpoint(method, path) === endpoint;
}

function findEndpoint(method: string, path: string): Endpoint | undefined {
  const ofMethod = ENDPOINTS.filter((each) => each.method === method);
  const fixed = ofMethod.find((each) => each.path === path);
  return fixed ?? ofMethod.find((each) => patternOf(each).test(path));
}

function patternOf({ path }: Endpoint): RegExp {
  return new RegExp(`^${path.replace(":id", "[^/]+")}$`);
}
