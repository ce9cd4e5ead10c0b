import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Introduction } from "../../daemon/supervise/introduction.ts";

/** Something that answers on a home's socket as a daemon of another version would. */
export interface FakeDaemon {
  /** Paths that it was asked for. */
  readonly asked: readonly string[];
  /** It was asked to end, and has. */
  readonly ended: boolean;
  end(): void;
}

/**
 * Holds the home's lock until it is asked to end, or for `fatalPath`, which it never answers.
 * Without an introduction it has no such call.
 */
export function startFakeDaemon(
  home: string,
  introduction: Partial<Introduction> | undefined,
  fatalPath?: string,
): FakeDaemon {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const lock = new Database(join(home, "daemon.lock"));
  lock.run("BEGIN EXCLUSIVE");
  const asked: string[] = [];
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    lock.close();
    void server.stop(true);
  };
  const server = Bun.serve({
    unix: join(home, "daemon.sock"),
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname === fatalPath) end();
      if (pathname === "/_memsync/daemon") {
        return introduction ? Response.json(introduction) : new Response("{}", { status: 404 });
      }
      if (pathname === "/_memsync/stop") queueMicrotask(() => setImmediate(end));
      return Response.json({ stopping: true });
    },
  });
  return {
    asked,
    get ended() {
      return ended;
    },
    end,
  };
}
