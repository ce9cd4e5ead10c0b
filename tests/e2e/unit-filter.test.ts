import { afterAll, expect } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inCi, LINUX, type Need, programs, testWith } from "../support/needs.ts";
import { commandOn, RUNTIMES, type Runtime, ServerFolder } from "../support/server-process.ts";

const ROOT = join(import.meta.dir, "../..");
const UNITS = ["memsync.service", "memsync-at-port.service"];
const UNDER_FILTER = join(ROOT, "tests/support/under-filter.ts");

const folder = mkdtempSync(join(tmpdir(), "memsync-filter-"));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

/** Root becomes nobody, who has to find the program. */
const READABLE: Need = {
  isMet: process.getuid?.() !== 0 || [ROOT, process.execPath].every(isReadableByAll),
  missing: "only root can read this folder",
};

function isReadableByAll(path: string): boolean {
  return (
    (statSync(path).mode & 0o005) === 0o005 && (path === "/" || isReadableByAll(dirname(path)))
  );
}

const LIBRARY: Need = {
  isMet: Bun.spawnSync(["sh", "-c", "ldconfig -p | grep -q 'libseccomp[.]so[.]2'"]).success,
  missing: "libseccomp2 not installed",
};

const NEEDS = [LINUX, READABLE, inCi(programs("systemd-analyze")), inCi(LIBRARY)];
const NEED: Need = NEEDS.find(({ isMet }) => !isMet) ?? LINUX;

/** A folder of a server that runs under the filter of `unit`. */
async function folderUnder(unit: string, runtime: Runtime): Promise<ServerFolder> {
  const [program = "", ...args] = await commandOn(runtime);
  // It was made for this process's own user.
  if (runtime === "node") chmodSync(dirname(args[0] ?? ""), 0o755);
  const found = Bun.which(program) ?? program;
  const server = new ServerFolder([process.execPath, UNDER_FILTER, unit, found, ...args]);
  chmodSync(server.folder, 0o777);
  return server;
}

for (const runtime of RUNTIMES) {
  for (const name of UNITS) {
    testWith(
      NEED,
      `under the filter of ${name} a server serves and ends on ${runtime}`,
      async () => {
        await using server = await folderUnder(join(ROOT, "deploy", name), runtime);
        const headers = { Authorization: `Bearer ${await server.token()}` };
        const { process: running, url } = await server.server();
        expect((await fetch(`${url}/readyz`)).status).toBe(200);
        const body = JSON.stringify({ content: "use tabs", layer: "user" });
        const written = await fetch(`${url}/v1/memories`, { method: "POST", headers, body });
        expect(written.status).toBe(200);
        const { status } = await running.end("SIGTERM");
        expect(status).toBe(0);
      },
    );
  }
}

testWith(NEED, "a filter that lacks what a program needs ends it", async () => {
  const narrow = join(folder, "narrow.service");
  await Bun.write(narrow, "SystemCallFilter=@basic-io\n");
  await using server = await folderUnder(narrow, "node");
  const { status } = await server.run(["--version"]);
  expect(status).not.toBe(0);
});
