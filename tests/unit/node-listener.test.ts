import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-listener-"));
const LISTENER = join(import.meta.dir, "../../server/listen/listen-node.ts");

const BUSY = join(folder, "go-on");

/** Takes nothing from the system before a file is there, and drains then. */
const BUSY_PROGRAM = `
import { existsSync } from "node:fs";
import { listenNode } from "./listen-node.js";
const world = {
  monotonic: () => performance.now(),
  defer: setImmediate,
  setTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};
const app = { world, routes: [], fetch: async () => new Response("hello") };
const listener = await listenNode(app, { host: "127.0.0.1", port: 0 });
process.stdout.write(listener.port + "\\n");
while (!existsSync(${JSON.stringify(BUSY)}));
await listener.drain();
await listener.close();
`;

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

beforeAll(async () => {
  await Bun.build({ entrypoints: [LISTENER], target: "node", format: "esm", outdir: folder });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true }));

test("on Node whoever has connected before a server is drained is answered", async () => {
  const program = join(folder, "busy.mjs");
  writeFileSync(program, BUSY_PROGRAM);
  await using child = Bun.spawn(["node", program], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  const connections = await Promise.all(Array.from({ length: 20 }, () => connectRaw(port)));
  for (const each of connections) each.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  writeFileSync(BUSY, "");
  await waitFor("all to be hung up on", () => connections.every((each) => each.closed()));
  expect(connections.filter((each) => each.received().endsWith("hello"))).toHaveLength(20);
  expect(await child.exited).toBe(0);
});

test("on Node nothing is held of what a closed listener has served", async () => {
  const program = join(folder, "program.mjs");
  writeFileSync(program, PROGRAM);
  const ran = Bun.spawnSync(["node", "--expose-gc", program]);
  // The last one may still be on the stack.
  expect(Number(ran.stdout.toString())).toBeLessThanOrEqual(1);
  expect(ran.stderr.toString()).toBe("");
  expect(ran.exitCode).toBe(0);
});
