/**
 * The address at which this machine reaches what listens on `host`. Where all addresses are
 * listened on, that is one of this machine's: `0.0.0.0` and `::` are none to call.
 */
export function callableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
