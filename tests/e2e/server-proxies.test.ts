import { expect, test } from "bun:test";
import { RUNTIMES, ServerFolder } from "../support/server-process.ts";

/** The clients in the log of a server that answered the same request from two sides. */
async function clientsOf(folder: ServerFolder, ...settings: readonly string[]) {
  const server = await folder.server(...settings);
  const headers = { "X-Forwarded-For": "203.0.113.9, 2001:DB8::7" };
  for (const init of [{ headers }, {}]) {
    expect((await fetch(`${server.url}/v1/memories`, init)).status).toBe(401);
  }
  const { stderr } = await server.process.end("SIGTERM");
  const lines = stderr.split("\n").filter((line) => line.includes('"route"'));
  return lines.map((line) => (JSON.parse(line) as { client?: string }).client);
}

for (const runtime of RUNTIMES) {
  test(`on ${runtime}, a trusted proxy tells whose request it is, and no other`, async () => {
    await using folder = await ServerFolder.create(runtime);
    expect(await clientsOf(folder)).toEqual(["127.0.0.1", "127.0.0.1"]);
    const trusted = await clientsOf(folder, "--trusted-proxies", "10.0.0.0/8,127.0.0.1");
    expect(trusted).toEqual(["2001:db8::7", "127.0.0.1"]);
  });
}
