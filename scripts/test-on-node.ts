// Runs the HTTP suite once more, against the emulator as a process of Node: needs `dist/`.
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const PROGRAM = ["node", join(ROOT, "dist/cli-node.mjs")];
const COMMAND = [...PROGRAM, "emulator", "--port", "0", "--limits", "off"];
const SUITE = ["test", "--timeout", "30000", "tests/http"];

/** The address that the emulator says it is ready at; rejects when it ends without. */
async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true });
    const url = /ready at (\S+)\n/.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("the emulator did not start on Node");
}

const emulator = Bun.spawn(COMMAND, { stdio: ["ignore", "pipe", "inherit"] });
try {
  const url = await addressIn(emulator.stdout);
  const tests = Bun.spawn([process.execPath, ...SUITE], {
    cwd: ROOT,
    env: { ...process.env, MEMSYNC_TEST_URL: url },
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exitCode = await tests.exited;
} finally {
  emulator.kill();
  await emulator.exited;
}
