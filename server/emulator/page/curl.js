// A request as a command for a POSIX shell.

/** Of the connection, not of the request; or made by curl itself. A body is shown inflated. */
const OWN_HEADERS =
  /^(host|connection|content-length|content-encoding|accept-encoding|user-agent|authorization|transfer-encoding|keep-alive|sec-.*)$/;

const REDACTED = "[redacted]";

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The token is the shell's own variable: it is in no history. */
export function curlOf({ method, path, query, headers, body, token }, origin) {
  const target = `${path}${query === "" ? "" : `?${query}`}`;
  // Of an address curl sends nothing behind this mark.
  const isCut = target.includes("#");
  const kept = Object.entries(headers).filter(
    ([name, value]) => !OWN_HEADERS.test(name) && value !== REDACTED,
  );
  const hasType = "content-type" in headers;
  return [
    `curl -i -X ${method} ${quoted(isCut ? origin : `${origin}${target}`)}`,
    ...(isCut ? [`--request-target ${quoted(target)}`] : []),
    ...(token === null ? [] : ['-H "Authorization: Bearer $MEMSYNC_TOKEN"']),
    ...kept.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // It would say that this is a form.
    ...(body !== undefined && !hasType ? ["-H 'Content-Type:'"] : []),
    ...(body === undefined
      ? []
      : [`--data-raw ${quoted(typeof body === "string" ? body : JSON.stringify(body))}`]),
  ].join(" \\\n  ");
}
