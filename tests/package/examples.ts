import { expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Consumer, ROOT } from "./consumer.ts";
import { startContainerEngine } from "./container-engine.ts";

const EXAMPLES = "examples/testing";
const IN_CONTAINERS = "examples/testcontainers";
const TSC = join(ROOT, "node_modules/.bin/tsc");

/** What runs each example, in its folder. Bun is that of the package. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  "node:test": ["node", "--test", "notes.node.test.mjs"],
  "bun:test": ["../../node_modules/.bin/bun", "test", "./notes.bun.test.mjs"],
  Vitest: ["node_modules/.bin/vitest", "run", "notes.vitest"],
  Jest: ["node_modules/.bin/jest"],
};

/** The worked examples, in the folder of someone who has installed the package. */
export function testExamples(installed: () => Consumer): void {
  const runIn = (folder: string, ...command: readonly string[]) => {
    const [program = "", ...args] = command;
    return installed().run("env", "-C", folder, program, ...args);
  };

  for (const folder of [EXAMPLES, IN_CONTAINERS]) {
    test(`what the examples of ${folder} need is installed`, async () => {
      const files = await readdir(join(ROOT, folder), { withFileTypes: true });
      const texts = files
        .filter((file) => file.isFile())
        .map(async ({ name }) => {
          return [`${folder}/${name}`, await readFile(join(ROOT, folder, name), "utf8")] as const;
        });
      await installed().write(Object.fromEntries(await Promise.all(texts)));
      const ci = ["npm", "ci", "--ignore-scripts", "--no-audit"];
      const { status, stderr } = await runIn(folder, ...ci);
      expect({ status, stderr }).toMatchObject({ status: 0 });
    });
  }

  for (const [runner, command] of Object.entries(RUNNERS)) {
    test(`${runner} runs the example, and finds each of its tests good`, async () => {
      const { status, stdout, stderr } = await runIn(EXAMPLES, ...command);
      const printed = stdout + stderr;
      expect({ status, printed }).toMatchObject({ status: 0 });
      // Each runner counts in words of its own.
      expect(printed).toMatch(/# pass 5|\b5 pass|5 passed/);
    });
  }

  test("TypeScript finds the container's types good", async () => {
    const options = ["--noEmit", "--checkJs", "--strict", "--skipLibCheck", "--module", "nodenext"];
    const checked = await runIn(IN_CONTAINERS, TSC, ...options, "memsync-container.mjs");
    expect(checked).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  test("the example with Testcontainers is good, and leaves no container", async () => {
    await using engine = startContainerEngine(installed());
    const env = [`DOCKER_HOST=${engine.host}`, "TESTCONTAINERS_RYUK_DISABLED=true"];
    const command = ["node", "--test", "notes.container.test.mjs"];
    const { status, stdout, stderr } = await runIn(IN_CONTAINERS, "env", ...env, ...command);
    const printed = stdout + stderr;
    expect({ status, printed }).toMatchObject({ status: 0 });
    expect(printed).toMatch(/# pass 2/);
    expect(engine.counts).toEqual({ made: 1, left: 0 });
  });
}
