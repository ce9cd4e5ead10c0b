import { hostname, networkInterfaces } from "node:os";
import { shownDatabase } from "../../daemon/embedded/embedded-service.ts";
import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import { sayCommand, saySentence } from "../screen/output.ts";

/** A server that nobody can use yet. */
export interface UnusedServer {
  readonly url: string;
  /** Its database's file, or address. */
  readonly path: string;
  /** By which names a proxy serves it. */
  readonly allowedHosts: readonly string[];
}

/** A machine's name, and its addresses that others may reach. */
interface Reachable {
  readonly name: string;
  readonly addresses: readonly string[];
}

/**
 * Says what a server needs before somebody can use it. The commands find its database from any
 * folder.
 */
export function sayFirstSteps(server: UnusedServer): void {
  const isShared = isPostgresAddress(server.path);
  const kept = shownDatabase(server.path);
  const at = `--database-url ${isShared ? "ADDRESS" : `sqlite:${kept}`}`;
  saySentence(`it has no account yet, and is kept in ${kept}; in another terminal:`);
  sayCommand(`  memsync server account create NAME ${at}`);
  sayCommand(`  memsync server token create --account NAME ${at}`);
  const { who, url, remark } = loginAt(server, here());
  saySentence(`and ${who}, with the token that this prints:`);
  sayCommand(`  memsync login --url ${url}`);
  if (remark !== undefined) saySentence(remark);
}

/** Who can log in by which address, and what else is to be known of it. */
export interface LoginAdvice {
  readonly who: string;
  readonly url: string;
  readonly remark?: string;
}

const BEYOND =
  "no other machine gets there: `--host 0.0.0.0` listens for others, too, unencrypted; for TLS " +
  "let a proxy lead here, and name its host by `--allowed-hosts`";
const UNENCRYPTED = "tokens go there unencrypted: a proxy has TLS (`memsync server --help`)";

/** By which address machines reach a server; it may listen on all of its machine's. */
export function loginAt(
  { url, allowedHosts: [publicHost] }: Pick<UnusedServer, "url" | "allowedHosts">,
  { name, addresses }: Reachable,
): LoginAdvice {
  const { hostname: host, port } = new URL(url);
  if (["localhost", "127.0.0.1", "[::1]"].includes(host)) {
    if (publicHost === undefined) return { who: "on this machine", url, remark: BEYOND };
    return { who: "on each machine, by way of the proxy", url: `https://${publicHost}` };
  }
  const who = "on each machine";
  if (host !== "0.0.0.0" && host !== "[::]") return { who, url, remark: UNENCRYPTED };
  const others = addresses.length === 0 ? "" : `, such as ${addresses.join(", ")}`;
  const remark = `or by another name or address of this machine${others}; ${UNENCRYPTED}`;
  return { who, url: `http://${name}:${port}`, remark };
}

function here(): Reachable {
  const found = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const addresses = found.flatMap(({ family, internal, address }) => {
    return family === "IPv4" && !internal ? [address] : [];
  });
  return { name: hostname(), addresses };
}
