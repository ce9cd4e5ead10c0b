import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Peer, startPeerOnPort } from "./peers.ts";
import type { Programs } from "./programs.ts";

/** A list of memories, as the interface answers it. */
export interface MemoryList {
  readonly memories: readonly unknown[];
}

const LOOPBACK = "127.0.0.1";

/** What json-server reads: these memories as a collection. */
export function writeCollection(dir: string, { memories }: MemoryList): void {
  writeFileSync(join(dir, "db.json"), JSON.stringify({ memories }));
}

/** json-server with what was written into `dir`; the collection is at `/memories`. */
export async function startJsonServer(programs: Programs, dir: string): Promise<Peer> {
  return await startPeerOnPort(programs, "json-server/lib/cli/bin.js", dir, (port) => [
    ...["db.json", "--host", LOOPBACK, "--port", String(port), "--quiet"],
  ]);
}

/** What is looked at of an OpenAPI document. */
interface Description {
  readonly paths: Readonly<Record<string, { readonly get?: Described }>>;
}

interface Described {
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

interface DescribedAnswer {
  readonly content?: Contents;
  readonly headers?: Record<string, unknown>;
}

type Contents = Readonly<Record<string, { example?: unknown; examples?: unknown }>>;

/** What Prism reads: an OpenAPI document whose list of memories has one example, this answer. */
export function writeDescription(dir: string, description: unknown, answer: MemoryList): void {
  const described = structuredClone(description) as Description;
  const found = described.paths["/v1/memories"]?.get?.responses["200"];
  const json = found?.content?.["application/json"];
  // Prism gives each header's example, and compresses nothing.
  delete found?.headers?.["Content-Encoding"];
  if (!json) throw new Error("the description has no list of memories");
  delete json.examples;
  json.example = answer;
  writeFileSync(join(dir, "openapi.json"), JSON.stringify(described));
}

/** Prism with what was written into `dir`. */
export async function startPrism(programs: Programs, dir: string): Promise<Peer> {
  return await startPeerOnPort(programs, "@stoplight/prism-cli/dist/index.js", dir, (port) => [
    ...["mock", "openapi.json", "--host", LOOPBACK, "--port", String(port)],
    ...["--verboseLevel", "silent"],
  ]);
}
