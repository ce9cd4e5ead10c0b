import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../../shared/version.ts";
import { HomeCommands, type HomeState } from "../released/home-state.ts";
import { expectRefused, tryNewerHome } from "../released/newer-home.ts";
import { takeOn } from "../released/take-on.ts";
import { RunningProcess } from "../support/running-process.ts";
import { ServerFolder } from "../support/server-process.ts";
import { type Compiled, compiled } from "./compiled.ts";
import { ROOT } from "./consumer.ts";

const COMPILE_DEADLINE_MS = 120_000;
const READY = /^memsync emulator ready at (http:\S+)\n/;
const RELEASED = join(ROOT, "tests/released/0.1.0");

/** Files that change what Bun does where they lie. */
const CONFIGURATION = {
  "bunfig.toml": 'preload = ["./intruder.ts"]\nlogLevel = "debug"\n',
  ".env": "MEMSYNC_URL=nonsense\nNODE_ENV=development\n",
  ".env.local": "MEMSYNC_HOME=/nowhere\n",
  "tsconfig.json": '{ "compilerOptions": { "paths": { "*": ["./intruder.ts"] } } }\n',
  "package.json": '{ "imports": { "#*": "./intruder.ts" }, "type": "commonjs" }\n',
  "node_modules/better-sqlite3/index.js": 'throw new Error("intruded");\n',
  "node_modules/commander/index.js": 'throw new Error("intruded");\n',
  "intruder.ts": 'console.log("intruded"); process.exit(9);\n',
};

let made: Compiled;

beforeAll(async () => {
  made = await compiled();
}, COMPILE_DEADLINE_MS);

afterAll(() => made?.[Symbol.dispose]());

/** A machine that has the binary and nothing else of this checkout. */
function machine(): HomeCommands {
  return new HomeCommands([made.binary]);
}

function intrudeInto(target: string): void {
  for (const [name, text] of Object.entries(CONFIGURATION)) {
    mkdirSync(join(target, name, ".."), { recursive: true });
    writeFileSync(join(target, name), text);
  }
}

test("the binary says its version, and names no folder of the machine that made it", async () => {
  using home = machine();
  expect(await home.run("--version")).toBe(`${VERSION}\n`);
  const grep = Bun.spawn(["grep", "-cF", ROOT, made.binary], { stdout: "pipe" });
  expect((await grep.stdout.text()).trim()).toBe("0");
});

test("used wrongly it says so, and exits with 2", async () => {
  using home = machine();
  const { status, stdout, stderr } = await home.spawn("emulator", "--port", "x").ended();
  expect([status, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^memsync: --port is/)]);
  const mistyped = await home.spawn("lst").ended();
  expect([mistyped.status, mistyped.stderr]).toEqual([2, expect.stringContaining("list")]);
});

test("the binary keeps memories with a daemon and without, whatever lies where the user stands", async () => {
  using home = machine();
  intrudeInto(home.project);
  writeFileSync(join(home.project, "CLAUDE.md"), "# Kept\n");
  const daemon = home.spawn("up");
  await daemon.untilPrinted(/memsync is up/);
  await home.run("set", "build", "npm run build");
  expect(await home.run("get", "build")).toBe("npm run build");
  await home.run("sync", "--wait", "20");
  expect(await home.run("doc")).toBe("# Kept\n");
  await home.run("stop");
  expect(await daemon.ended()).toMatchObject({ status: 0, stderr: "" });
  await home.run("set", "build", "bun run build");
  expect(await home.run("get", "build")).toBe("bun run build");
  expect(await home.run("history", "build")).toContain("npm run build");
  expect(await home.run("conflicts")).toBe("no conflicts\n");
});

test("the binary's emulator serves both variants, their description and its page, and keeps to it", async () => {
  using home = machine();
  intrudeInto(home.project);
  const emulator = home.spawn("emulator", "--port", "0", "--limits", "off");
  const url = await emulator.untilPrinted(READY);
  const headers = { Authorization: "Bearer mst_dev_pro" };
  for (const path of ["/v1/memories", "/api/projects", "/openapi.json", "/docs", "/healthz"]) {
    const response = await fetch(url + path, { headers });
    expect([path, response.status, (await response.text()).length > 10]).toEqual([path, 200, true]);
  }
  const report = await home.run("conformance", "--url", url, "--token", "mst_dev_suite", "--json");
  expect(JSON.parse(report)).toMatchObject({ fails: 0, holds: expect.any(Number) });
  expect(await emulator.end("SIGTERM")).toMatchObject({ status: 0, stderr: "" });
});

test("the binary's server is backed up while it runs, and restored", async () => {
  await using server = new ServerFolder([made.binary]);
  intrudeInto(server.folder);
  const token = await server.token();
  const running = await server.server();
  const headers = { Authorization: `Bearer ${token}` };
  const body = JSON.stringify({ key: "kept", content: "x", layer: "global" });
  const saved = await fetch(`${running.url}/v1/memories`, { method: "POST", headers, body });
  expect(saved.status).toBe(200);
  expect(await server.memsync("server", "backup", "copy.db")).toStartWith("backed up to ");
  await running.process.end("SIGTERM");
  expect(await server.memsync("server", "restore", "copy.db")).toStartWith("restored ");
  const restored = await server.server();
  const listed = await fetch(`${restored.url}/v1/memories`, { headers });
  expect(await listed.text()).toContain('"key":"kept"');
});

test("the binary takes on a home of 0.1.0, from a folder with a space in its name", async () => {
  const moved = join(made.folder, "a folder", "memsync");
  mkdirSync(join(moved, ".."));
  cpSync(made.binary, moved);
  using home = new HomeCommands([moved]);
  const then: HomeState = await Bun.file(join(RELEASED, "home.json")).json();
  await takeOn(home, await Bun.file(join(RELEASED, "home.sql")).text(), then);
});

test("run by npx it says that the service's program may be cleared away", async () => {
  const cached = join(made.folder, "_npx", "4f1c0b7", "memsync");
  mkdirSync(join(cached, ".."), { recursive: true });
  cpSync(made.binary, cached);
  using home = machine();
  // No service manager is in this path.
  const env = { PATH: made.folder, HOME: home.folder, MEMSYNC_HOME: home.home };
  const install = new RunningProcess([cached, "install"], { cwd: home.project, env });
  expect((await install.ended()).stderr).toContain("this memsync is in npx's cache");
});

test("the binary refuses a home of a newer version, and changes no byte of it", async () => {
  const sql = await Bun.file(join(RELEASED, "home.sql")).text();
  for (const attempt of await tryNewerHome(sql, [made.binary])) {
    expectRefused(attempt);
  }
});
