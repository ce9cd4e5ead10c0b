import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "memsync-listener-"));
const LISTENER = join(import.meta.dir, "../../server/listen/listen-node.ts");

/** Prints how many of five apps are held after their listeners were closed. */
const PROGRAM = `
import { listenNode } from "./listen-node.js";
const world = {
  monotonic: () => performance.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};
const apps = [];
async function listenOnce() {
  const app = { world, routes: [], fetch: async () => new Response("hello") };
  apps.push(new WeakRef(app));
  const listener = await listenNode(app, { host: "127.0.0.1", port: 0 });
  await (await fetch("http://127.0.0.1:" + listener.port)).text();
  await listener.close();
}
for (let at = 0; at < 5; at++) await listenOnce();
for (let at = 0; at < 20; at++) {
  await new Promise((resolve) => setImmediate(resolve));
  gc();
}
console.log(apps.filter((each) => each.deref()).length);
process.exit();
`;

afterAll(() => rmSync(folder, { recursive: true }));

test("on Node nothing is held of what a closed listener has served", async () => {
  await Bun.build({ entrypoints: [LISTENER], target: "node", format: "esm", outdir: folder });
  const program = join(folder, "program.mjs");
  writeFileSync(program, PROGRAM);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const ran = Bun.spawnSync(["node", "--expose-gc", program]);
  // The last one may still be on the stack.
  expect(Number(ran.stdout.toString())).toBeLessThanOrEqual(1);
  expect(ran.stderr.toString()).toBe("");
  expect(ran.exitCode).toBe(0);
});
