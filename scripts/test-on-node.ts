// Runs the HTTP suite and the service's side of the protocol once more, against the emulator as
// processes of Node: needs `dist/`. One of them serves everything, the other what is published and
// nothing else.
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const PROGRAM = ["node", join(ROOT, "dist/cli-node.mjs")];
const COMMAND = [...PROGRAM, "emulator", "--port", "0", "--limits", "off"];
const SUITE = ["test", "--timeout", "30000", "tests/http", "tests/protocol/service"];

function start(...args: readonly string[]) {
  return Bun.spawn([...COMMAND, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

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

const everything = start();
const published = start("--published-only");
try {
  const env = {
    ...process.env,
    MEMSYNC_TEST_URL: await addressIn(everything.stdout),
    MEMSYNC_TEST_PUBLISHED_URL: await addressIn(published.stdout),
  };
  const tests = Bun.spawn([process.execPath, ...SUITE], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exitCode = await tests.exited;
} finally {
  for (const emulator of [everything, published]) emulator.kill();
  await Promise.all([everything.exited, published.exited]);
}
