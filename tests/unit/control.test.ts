import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linkFolders } from "../../cli/writes/link-folders.ts";
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

test("of a batch that fails the first failure is thrown, once all that began has ended", async () => {
  const begun: string[] = [];
  const ended: string[] = [];
  const folders = ["a", "b", "c", "d", "e", "f"];
  const linking = linkFolders(folders, async (dir) => {
    begun.push(dir);
    await Promise.resolve();
    if (dir === "b") throw new Error("b is no folder");
    await new Promise((resolve) => setImmediate(resolve));
    ended.push(dir);
  });
  expect(await linking.then(String, String)).toBe("Error: b is no folder");
  expect(begun).toEqual(["a", "b", "c", "d"]);
  expect(ended).toEqual(["a", "c", "d"]);
});

test("of folders that are linked in one go the daemon knows that more follow", async () => {
  const told: unknown[] = [];
  const daemon: Partial<Controlled> = {
    link: async (dir, options) => told.push([dir, options.more ?? false]) && {},
  };
  const control = createControl(() => daemon as Controlled);
  await linkFolders(["a", "b", "c"], async (dir, more) => {
    const body = JSON.stringify({ dir, more });
    await control("link", new Request("http://localhost/", { method: "POST", body }));
  });
  expect(told).toEqual([
    ["a", true],
    ["b", true],
    ["c", false],
  ]);
});
