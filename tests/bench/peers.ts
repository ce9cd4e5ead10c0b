import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { urlIn } from "./emulator.ts";
import type { Program, Programs } from "./programs.ts";
import type { Figure } from "./row.ts";

/** The folder of the peers' programs. */
export const PEERS = join(import.meta.dir, "peers");
const PACKAGES = join(PEERS, "node_modules");

/** Holds the hash of the lock file that was installed. */
const STAMP = join(PACKAGES, ".memsync-installed");

/** What is compiled after that. */
const COMPILED = join(PACKAGES, "better-sqlite3/build/Release/better_sqlite3.node");

const INSTALL_DEADLINE_MS = 600_000;
const ENVIRONMENT = { NODE_ENV: "production", NODE_NO_WARNINGS: "1" };

/** A peer is not to be had on this machine; the message says why. */
export class PeerMissing extends Error {}

/** A peer's process that listens at `url`. */
export interface Peer extends Program {
  readonly url: string;
}

/** A program of this folder's, which says at which address it is ready. */
export async function startPeer(
  programs: Programs,
  script: string,
  args: readonly string[],
): Promise<Peer> {
  const node = await nodeWithPeers();
  const command = [node, join(PEERS, script), ...args];
  const program = await programs.spawn(command, ENVIRONMENT).catch(asMissing);
  return { ...program, url: urlIn(program.line) };
}

/**
 * A peer's own program, which needs to say nothing: resolves when it takes connections at the port
 * that `argsFor` is given. `cwd` is a folder that it may write into.
 */
export async function startPeerOnPort(
  programs: Programs,
  path: string,
  cwd: string,
  argsFor: (port: number) => readonly string[],
): Promise<Peer> {
  const node = await nodeWithPeers();
  const port = await freePort();
  const command = [node, join(PACKAGES, path), ...argsFor(port)];
  const program = await programs.spawnOnPort(command, ENVIRONMENT, cwd, port).catch(asMissing);
  return { ...program, url: `http://127.0.0.1:${port}` };
}

/** The command of a peer's own program, for one that speaks over its standard streams. */
export async function peerCommand(path: string): Promise<string[]> {
  return [await nodeWithPeers(), join(PACKAGES, path)];
}

/** Asks a program that was made with `serve.mjs` for a piece of work. */
export async function ask<Result>({ url }: Peer, what: string, body: unknown): Promise<Result> {
  const response = await fetch(`${url}/${what}`, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`a peer could not ${what}: ${text}`);
  return JSON.parse(text) as Result;
}

/** The figures beside a peer, or one that says why there is none. */
export async function besidePeer(
  target: string,
  measure: () => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  try {
    return await measure();
  } catch (thrown) {
    return [noPeer(thrown, target)];
  }
}

/** What stands in the place of a figure beside a peer; throws what has another cause. */
export function noPeer(thrown: unknown, target: string): Figure {
  if (!(thrown instanceof PeerMissing)) throw thrown;
  return { figure: `no peer: ${thrown.message}`, target, verdict: "not judged" };
}

function asMissing(thrown: unknown): never {
  throw new PeerMissing(messageOf(thrown));
}

let ready: Promise<string> | undefined;

/** The path of Node, once the peers are installed. */
function nodeWithPeers(): Promise<string> {
  ready ??= installPeers();
  return ready;
}

/**
 * Installs what the lock file names, unless it is there. No package's own script runs, so none can
 * download anything; the one that has to be compiled is.
 */
async function installPeers(): Promise<string> {
  const node = Bun.which("node");
  const npm = Bun.which("npm");
  if (node === null || npm === null) throw new PeerMissing("Node and npm are needed to run them");
  const lock = createHash("sha256").update(readFileSync(join(PEERS, "package-lock.json")));
  const stamp = `${lock.digest("hex")} ${process.platform} ${process.arch}`;
  const isInstalled = existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp;
  if (isInstalled && existsSync(COMPILED)) return node;
  process.stderr.write("installing the peers, which takes a minute or two …\n");
  await run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
  await run([npm, "rebuild", "better-sqlite3"], compilerSettings(node));
  if (!existsSync(COMPILED)) throw new PeerMissing("`npm rebuild better-sqlite3` made nothing");
  writeFileSync(STAMP, stamp);
  return node;
}

/** Compiles with Node's own headers where they are: none are downloaded then. */
function compilerSettings(node: string): Record<string, string> {
  const prefix = dirname(dirname(node));
  const hasHeaders = existsSync(join(prefix, "include/node/node.h"));
  return {
    npm_config_build_from_source: "true",
    ...(hasHeaders && { npm_config_nodedir: prefix }),
  };
}

async function run(command: string[], environment: Record<string, string> = {}): Promise<void> {
  const child = Bun.spawn(command, {
    cwd: PEERS,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: INSTALL_DEADLINE_MS,
  });
  const said = await child.stderr.text();
  if ((await child.exited) === 0) return;
  const lines = said.split("\n").filter((line) => /npm error/.test(line));
  const why = lines.slice(0, 2).join("; ") || `it ended with ${child.exitCode}`;
  throw new PeerMissing(`\`npm ${command[1]}\` in tests/bench/peers failed: ${why}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}
