import { expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Consumer, ROOT } from "./consumer.ts";

const EXAMPLES = "examples/testing";

/** What runs each example, in its folder. Bun is that of the package. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  "node:test": ["node", "--test", "notes.node.test.mjs"],
  "bun:test": ["../../node_modules/.bin/bun", "test", "./notes.bun.test.mjs"],
  Vitest: ["node_modules/.bin/vitest", "run", "notes.vitest"],
  Jest: ["node_modules/.bin/jest"],
};

/** The worked examples, in the folder of someone who has installed the package. */
export function testExamples(installed: () => Consumer): void {
  const runThere = (...command: readonly string[]) => {
    const [program = "", ...args] = command;
    return installed().run("env", "-C", EXAMPLES, program, ...args);
  };

  test("the examples' runners are installed", async () => {
    const files = await readdir(join(ROOT, EXAMPLES), { withFileTypes: true });
    const texts = files
      .filter((file) => file.isFile())
      .map(async ({ name }) => {
        return [`${EXAMPLES}/${name}`, await readFile(join(ROOT, EXAMPLES, name), "utf8")] as const;
      });
    await installed().write(Object.fromEntries(await Promise.all(texts)));
    const { status, stderr } = await runThere("npm", "ci", "--ignore-scripts", "--no-audit");
    expect({ status, stderr }).toMatchObject({ status: 0 });
  });

  for (const [runner, command] of Object.entries(RUNNERS)) {
    test(`${runner} runs the example, and finds each of its tests good`, async () => {
      const { status, stdout, stderr } = await runThere(...command);
      const printed = stdout + stderr;
      expect({ status, printed }).toMatchObject({ status: 0 });
      // Each runner counts in words of its own.
      expect(printed).toMatch(/# pass 4|\b4 pass|4 passed/);
    });
  }
}
