const BEARER = /^Bearer +([^\s]+) *$/i;

/** The token of an `Authorization` header of the scheme Bearer; undefined for any other. */
export function bearerToken(header: string | null): string | undefined {
  return header === null ? undefined : BEARER.exec(header)?.[1];
}
