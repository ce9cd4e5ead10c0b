import { expect, test } from "bun:test";
import { join } from "node:path";
import { wireSchemas } from "../../scripts/wire-types.ts";
import { type Consumer, ROOT } from "./consumer.ts";

/** Known only once it is installed, which is after the tests are named. */
type Installed = () => Consumer;

/** The body of a program that starts the emulator, asks it something and ends. */
const ASK = `
  const emulator = await startEmulator();
  const headers = { Authorization: "Bearer " + emulator.token };
  const response = await fetch(emulator.url + "/v1/memories", { headers });
  console.log(response.status, await response.text());
  await emulator.close();
`;
export const ESM = `import { startEmulator } from "memsync/emulator";\n${ASK}`;
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

/** What whoever has installed the package finds in its libraries. */
export function testLibraries(installed: Installed): void {
  testEmulator(installed);
  testClient(installed);
  testEmulatorTypes(installed);
  testClientTypes(installed);
  testWireTypes(installed);
}

function testEmulator(installed: Installed): void {
  for (const runtime of ["node", "bun"]) {
    for (const [kind, text] of Object.entries({ mjs: ESM, cjs: COMMON_JS })) {
      test(`the emulator starts within a .${kind} program of ${runtime}`, async () => {
        await installed().write({ [`ask.${kind}`]: text });
        const path = runtime === "bun" ? "node_modules/.bin/bun" : runtime;
        const { status, stdout, stderr } = await installed().run(path, `ask.${kind}`);
        expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
        expect(stdout).toStartWith('200 {"memories":[]');
      });
    }
  }
}

function testClient(installed: Installed): void {
  for (const runtime of ["node", "bun"]) {
    for (const [kind, text] of Object.entries({ mjs: CLIENT_ESM, cjs: CLIENT_COMMON_JS })) {
      test(`the client works within a .${kind} program of ${runtime}`, async () => {
        await installed().write({ [`call.${kind}`]: text });
        const path = runtime === "bun" ? "node_modules/.bin/bun" : runtime;
        const { status, stdout, stderr } = await installed().run(path, `call.${kind}`);
        expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
        expect(stdout).toBe("true\ntrue not_found 404\n");
      });
    }
  }
}

function testEmulatorTypes(installed: Installed): void {
  for (const [resolution, module, name] of [
    ["nodenext", "nodenext", "typed.mts"],
    ["nodenext", "nodenext", "typed.cts"],
    ["bundler", "esnext", "typed.ts"],
  ] as const) {
    test(`the types are right for moduleResolution ${resolution} in ${name}`, async () => {
      const text = `import { type Emulator, startEmulator } from "memsync/emulator";
        import { useMemsync } from "memsync/testing";
        export const right: Promise<Emulator> = startEmulator({ port: 0, plan: "team" });
        export const used: Emulator = useMemsync({ plan: "team", reset: "each" });
        // @ts-expect-error: there is no such reset
        export const unused = useMemsync({ reset: "all" });
        // @ts-expect-error: a port is a number
        export const wrong = startEmulator({ port: "0" });`;
      await installed().write({ [name]: text });
      const outcome = await installed().run(
        ...["node", join(ROOT, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"],
        ...["--target", "es2022", "--lib", "es2022", "--types", "", "--ignoreConfig"],
        ...["--module", module, "--moduleResolution", resolution, name],
      );
      expect(outcome).toEqual({ status: 0, stdout: "", stderr: "" });
    });
  }
}

function testClientTypes(installed: Installed): void {
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
      await installed().write({ [name]: text });
      const outcome = await installed().run(
        ...["node", join(ROOT, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"],
        ...["--target", "es2022", "--lib", lib, "--types", "", "--ignoreConfig"],
        ...["--module", module, "--moduleResolution", resolution, name],
      );
      expect(outcome).toEqual({ status: 0, stdout: "", stderr: "" });
    });
  }
}

function testWireTypes(installed: Installed): void {
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
    await installed().write({ "same.mts": text });
    const outcome = await installed().run(
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
}
