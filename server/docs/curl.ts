import type { PathOperation, PathParameter } from "../openapi/document.ts";

/** A request with its parameters filled in, for an example. */
export interface SampleRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: PathOperation;
  readonly parameters: readonly PathParameter[];
}

/**
 * A shell command that sends the request with its required fields and the first example of each.
 */
export function curlOf({ method, path, operation, parameters }: SampleRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => exampleOf(parameters, name));
  const query = parameters
    .filter((each) => each.in === "query" && each.required)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  const url = `"$MEMSYNC_URL${filled}${query.length > 0 ? `?${query.join("&")}` : ""}"`;
  const [body] = Object.values(operation.requestBody?.content["application/json"]?.examples ?? {});
  return [
    `curl -s ${method === "get" || body ? "" : `-X ${method.toUpperCase()} `}${url}`,
    ...(operation.security ? [] : ['-H "Authorization: Bearer $MEMSYNC_TOKEN"']),
    ...(body ? [`-d ${quoted(JSON.stringify(body.value))}`] : []),
  ].join(" \\\n  ");
}

function exampleOf(parameters: readonly PathParameter[], name: string): string {
  const found = parameters.find((each) => each.in === "path" && each.name === name);
  return String(found?.example ?? "");
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
