import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Controlled, createControl } from "../../daemon/gateway/control.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-control-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a sync learns that nobody waits for it any more", async () => {
  const begun = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const daemon: Partial<Controlled> = {
    sync(_, { signal }) {
      begun.resolve();
      signal.addEventListener("abort", () => left.resolve());
      return left.promise.then(() => ({}));
    },
  };
  const control = createControl(() => daemon as Controlled);
  const unix = join(folder, "daemon.sock");
  const server = Bun.serve({ unix, fetch: (request) => control("sync", request) });
  const abort = new AbortController();
  const body = JSON.stringify({ wait_seconds: 3600 });
  const options = { unix, method: "POST", body, signal: abort.signal };
  const asked = fetch("http://localhost/", options).catch(() => "gone");
  await begun.promise;
  abort.abort();
  expect(await asked).toBe("gone");
  await left.promise;
  await server.stop(true);
});
