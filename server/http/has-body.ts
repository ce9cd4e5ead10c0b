/** Whether a request with these headers brings a body. */
export function hasBody(headers: Headers): boolean {
  return headers.has("transfer-encoding") || Number(headers.get("content-length")) > 0;
}
