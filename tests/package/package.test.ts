import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { manPage } from "../../scripts/man-page.ts";
import { wireSchemas } from "../../scripts/wire-types.ts";
import { VERSION } from "../../shared/version.ts";
import { HomeCommands } from "../released/home-state.ts";
import { NEWER_HOME, tryNewerHome } from "../released/newer-home.ts";
import { takeOn } from "../released/take-on.ts";
import { type Consumer, createConsumer, ROOT } from "./consumer.ts";
import { installed, installedGlobally, type Packed, pack } from "./installed.ts";

const INSTALL_DEADLINE_MS = 600_000;
const READY = /^memsync emulator ready at (http:\S+)\n/;

/** The body of a program that starts the emulator, asks it something and ends. */
const ASK = `
  const emulator = await startEmulator();
  const headers = { Authorization: "Bearer " + emulator.token };
  const response = await fetch(emulator.url + "/v1/memories", { headers });
  console.log(response.status, await response.text());
  await emulator.close();
`;
const ESM = `import { startEmulator } from "memsync/emulator";\n${ASK}`;
const COMMON_JS = `const { startEmulator } = require("memsync/emulator");
  (async () => {${ASK}})();`;

/** The body of a program that makes a memory and asks for what is not there. */
const CALL = `
  const emulator = await startEmulator();
  const { v1 } = createClient({ url: emulator.url, token: emulator.token });
  const { id } = await v1.createMemory({ content: "x", layer: "user" });
  for await (const memory of v1.memories()) console.log(memory.id === id);
  const failure = await v1.getProject("proj_none").catch((thrown) => thrown);
  console.log(failure instanceof MemsyncError, failure.code, failure.status);
  await emulator.close();
`;
const CLIENT_ESM = `import { startEmulator } from "memsync/emulator";
  import { createClient, MemsyncError } from "memsync/client";\n${CALL}`;
const CLIENT_COMMON_JS = `const { startEmulator } = require("memsync/emulator");
  const { createClient, MemsyncError } = require("memsync/client");
  (async () => {${CALL}})();`;

/** What a platform with `fetch` lets pass, and what it does not. */
const PLATFORM = `
  const service = { url: "http://127.0.0.1:1", token: "mst_x" };
  export const given = createClient({ ...service, fetch: (input, init) => fetch(input, init) });
  export const ended = v1.listMemories({}, { signal: new AbortController().signal });
  // @ts-expect-error: no signal
  export const endless = v1.listMemories({}, { signal: "stop" });
`;

let packed: Packed;
let consumer: Consumer;
/** Installed without install scripts: `bun` is not put in its place, nothing is compiled. */
let scriptless: Consumer;

beforeAll(async () => {
  packed = await pack();
  consumer = await installed(packed);
  scriptless = await installed(packed, "--ignore-scripts");
}, INSTALL_DEADLINE_MS);

afterAll(async () => {
  await consumer?.[Symbol.asyncDispose]();
  await scriptless?.[Symbol.asyncDispose]();
  packed?.[Symbol.dispose]();
});

async function answerOf(url: string | undefined): Promise<number> {
  const headers = { Authorization: "Bearer mst_dev_pro" };
  const { status } = await fetch(`${url}/v1/memories`, { headers });
  return status;
}

test("the package holds what is built and its documents, and nothing else", () => {
  const documents = /^(package\.json|(README|ARCHITECTURE|PROTOCOL|CHANGELOG)\.md|LICENSE)$/;
  const others = packed.files.filter((path) => !path.startsWith("dist/") && !documents.test(path));
  expect(others).toEqual([]);
  expect(packed.files).toContain("dist/memsync.mjs");
});

test("the package has a manual page, which npm installs", async () => {
  const installedAt = join(consumer.folder, "node_modules/memsync");
  const { man } = await Bun.file(join(installedAt, "package.json")).json();
  expect(await Bun.file(join(installedAt, man[0])).text()).toBe(await manPage());
});

test("the Homebrew formula is of this tarball", async () => {
  const script = join(ROOT, "scripts/formula.ts");
  const url = `https://example.com/memsync-${VERSION}.tgz`;
  const { status, stdout } = await consumer.run(process.execPath, script, packed.path, url);
  expect(status).toBe(0);
  const bytes = await Bun.file(packed.path).bytes();
  const sum = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  expect(stdout).toContain(`  url "${url}"\n  sha256 "${sum}"\n`);
  expect(stdout).not.toContain("__");
});

test("no file of the package names a folder of the machine that built it", async () => {
  const dist = join(consumer.folder, "node_modules/memsync/dist");
  const { stdout } = await consumer.run("grep", "-rlF", ROOT, dist);
  expect(stdout).toBe("");
});

test("npx runs the emulator, which answers", async () => {
  const emulator = consumer.start("npx", "memsync", "emulator", "--port", "0");
  const [, url] = await emulator.prints(READY);
  expect(await answerOf(url)).toBe(200);
});

test("the command says its version, and exits with the status of what it ran", async () => {
  const command = "node_modules/.bin/memsync";
  const version = await consumer.run(command, "--version");
  expect(version).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
  expect((await consumer.run(command, "emulator", "--port", "x")).status).toBe(2);
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  test(`${signal} to the command ends the emulator in good order`, async () => {
    const emulator = consumer.start("node_modules/.bin/memsync", "emulator", "--port", "0");
    const [, url] = await emulator.prints(READY);
    emulator.kill(signal);
    expect(await emulator.ended).toEqual({ status: 0, signal: null });
    expect(answerOf(url)).rejects.toThrow();
  });
}

test("the daemon runs, and takes nothing but its project from where the user stands", async () => {
  await consumer.write({
    "elsewhere/bunfig.toml": 'preload = ["./preload.ts"]',
    "elsewhere/preload.ts": 'console.log("preloaded");',
    "elsewhere/.env": "MEMSYNC_URL=nonsense",
  });
  const up = "cd elsewhere && MEMSYNC_HOME=$PWD/home exec ../node_modules/.bin/memsync up";
  const daemon = consumer.start("sh", "-c", up);
  await daemon.prints(/^memsync is up/);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toEqual({ status: 0, signal: null });
});

test("the emulator runs as a process of Node, too", async () => {
  const program = "node_modules/memsync/dist/cli-node.mjs";
  const emulator = consumer.start("node", program, "emulator", "--port", "0");
  const [, url] = await emulator.prints(READY);
  expect(await answerOf(url)).toBe(200);
  emulator.kill("SIGTERM");
  expect(await emulator.ended).toEqual({ status: 0, signal: null });
});

for (const runtime of ["node", "bun"]) {
  for (const [kind, text] of Object.entries({ mjs: ESM, cjs: COMMON_JS })) {
    test(`the emulator starts within a .${kind} program of ${runtime}`, async () => {
      await consumer.write({ [`ask.${kind}`]: text });
      const path = runtime === "bun" ? "node_modules/.bin/bun" : runtime;
      const { status, stdout, stderr } = await consumer.run(path, `ask.${kind}`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toStartWith('200 {"memories":[]');
    });
  }
}

for (const runtime of ["node", "bun"]) {
  for (const [kind, text] of Object.entries({ mjs: CLIENT_ESM, cjs: CLIENT_COMMON_JS })) {
    test(`the client works within a .${kind} program of ${runtime}`, async () => {
      await consumer.write({ [`call.${kind}`]: text });
      const path = runtime === "bun" ? "node_modules/.bin/bun" : runtime;
      const { status, stdout, stderr } = await consumer.run(path, `call.${kind}`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toBe("true\ntrue not_found 404\n");
    });
  }
}

for (const [resolution, module, name] of [
  ["nodenext", "nodenext", "typed.mts"],
  ["nodenext", "nodenext", "typed.cts"],
  ["bundler", "esnext", "typed.ts"],
] as const) {
  test(`the types are right for moduleResolution ${resolution} in ${name}`, async () => {
    const text = `import { type Emulator, startEmulator } from "memsync/emulator";
      export const right: Promise<Emulator> = startEmulator({ port: 0, plan: "team" });
      // @ts-expect-error: a port is a number
      export const wrong = startEmulator({ port: "0" });`;
    await consumer.write({ [name]: text });
    const outcome = await consumer.run(
      ...["node", join(ROOT, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"],
      ...["--target", "es2022", "--lib", "es2022", "--types", "", "--ignoreConfig"],
      ...["--module", module, "--moduleResolution", resolution, name],
    );
    expect(outcome).toEqual({ status: 0, stdout: "", stderr: "" });
  });
}

for (const [resolution, module, name, lib] of [
  ["nodenext", "nodenext", "client.mts", "es2022"],
  ["nodenext", "nodenext", "client.cts", "es2022"],
  ["bundler", "esnext", "client.ts", "es2022,dom"],
] as const) {
  test(`the client's types are right in ${name}, for a platform of ${lib}`, async () => {
    const text = `import { createClient, MemsyncError, type Memory } from "memsync/client";
      const { v1 } = createClient({ url: "http://127.0.0.1:1", token: "mst_x" });
      export const right: Promise<Memory> = v1.createMemory({ content: "x", layer: "user" });
      export const failed = (error: MemsyncError): string | undefined => error.requestId;
      ${lib.includes("dom") ? PLATFORM : ""}
      // @ts-expect-error: there is no such layer
      export const wrong = v1.createMemory({ content: "x", layer: "team" });`;
    await consumer.write({ [name]: text });
    const outcome = await consumer.run(
      ...["node", join(ROOT, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"],
      ...["--target", "es2022", "--lib", lib, "--types", "", "--ignoreConfig"],
      ...["--module", module, "--moduleResolution", resolution, name],
    );
    expect(outcome).toEqual({ status: 0, stdout: "", stderr: "" });
  });
}

test("the client's written types are those of the schemas, each of them", async () => {
  const names = Object.keys(wireSchemas());
  const imported = names.map((name) => `${name} as Written${name}`).join(", ");
  const checks = names.map(
    (name) => `export const ${name}: Same<Schema.${name}, Written${name}> = true;`,
  );
  const text = `import type { ${imported} } from "memsync/client";
    import type * as Schema from "${join(ROOT, "client/wire.ts")}";
    type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
    export const sound: Same<{ a: string }, { a: number }> = false;
    ${checks.join("\n")}`;
  await consumer.write({ "same.mts": text });
  const outcome = await consumer.run(
    ...["node", join(ROOT, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"],
    ...["--target", "es2023", "--lib", "es2023", "--ignoreConfig", "--types", "bun-types"],
    ...[
      "--typeRoots",
      join(ROOT, "node_modules"),
      "--skipLibCheck",
      "--allowImportingTsExtensions",
      "--exactOptionalPropertyTypes",
    ],
    ...["--module", "nodenext", "--moduleResolution", "nodenext", "same.mts"],
  );
  expect(outcome).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("without install scripts the command still runs", async () => {
  const emulator = scriptless.start("node_modules/.bin/memsync", "emulator", "--port", "0");
  const [, url] = await emulator.prints(READY);
  expect(await answerOf(url)).toBe(200);
});

test("installed for all projects it runs from anywhere, and its manual page is there", async () => {
  const { consumer: everywhere, prefix } = await installedGlobally(packed);
  await using _ = everywhere;
  const command = join(everywhere.folder, prefix, "bin/memsync");
  await everywhere.write({ "a project/CLAUDE.md": "# Kept\n" });
  const script = `cd 'a project' && export MEMSYNC_HOME="$PWD/home" && "$0" --version &&
    "$0" set --layer user build 'npm run build' &&
    "$0" get --layer user build`;
  const { stdout, stderr } = await everywhere.run("sh", "-c", script, command);
  expect([stdout, stderr]).toEqual([`${VERSION}\nnpm run build`, ""]);
  const page = Bun.file(join(everywhere.folder, prefix, "share/man/man1/memsync.1"));
  expect(await page.exists()).toBe(true);
});

test("the installed command takes on a home of 0.1.0, and refuses a newer one", async () => {
  const memsync = ["node", join(consumer.folder, "node_modules/memsync/dist/memsync.mjs")];
  const released = join(ROOT, "tests/released/0.1.0");
  const sql = await Bun.file(join(released, "home.sql")).text();
  using home = new HomeCommands(memsync);
  await takeOn(home, sql, await Bun.file(join(released, "home.json")).json());
  for (const attempt of await tryNewerHome(sql, memsync)) {
    expect(attempt).toMatchObject({ status: 1, stdout: "", untouched: true });
    expect(attempt.stderr).toMatch(NEWER_HOME);
  }
});

test("without better-sqlite3 the emulator on Node says in a sentence what to do", async () => {
  await scriptless.write({ "ask.mjs": ESM });
  const { status, stderr } = await scriptless.run("node", "ask.mjs");
  expect(status).not.toBe(0);
  expect(stderr).toContain("memsync under Node needs the package better-sqlite3");
});

test("without bun the command says in a sentence what to do", async () => {
  await using bare = await createConsumer();
  const launcher = "node_modules/memsync/dist/memsync.mjs";
  await copyFile(join(scriptless.folder, launcher), join(bare.folder, "memsync.mjs"));
  const { status, stderr } = await bare.run("node", "memsync.mjs", "--version");
  expect(status).toBe(1);
  expect(stderr).toMatch(/^memsync: the package bun, under which memsync runs, is missing .*\n$/);
});
