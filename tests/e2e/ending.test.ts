import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

/** A service that takes every connection and says nothing. */
async function silentService(): Promise<{ url: string; calls(): number; close(): void }> {
  let calls = 0;
  const server = createServer((socket) => {
    calls++;
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, calls: () => calls, close: () => void server.close() };
}

async function makeMachine(lab: Lab, url?: string): Promise<Machine> {
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md" });
  return lab.machine("a", folder, url === undefined ? undefined : { url, token: "mst_x" });
}

const UNDER_WAY = "something still under way";

for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
  scenario(`${signal} ends a daemon in order while its service says nothing`, async (lab) => {
    const service = await silentService();
    const machine = await makeMachine(lab, service.url);
    const up = machine.begin();
    await waitFor("the daemon", () => machine.status());
    const sync = machine.spawn(["sync", "--wait", "60"]);
    await waitFor("a call under way", () => service.calls() > 1);
    process.kill(machine.holder() ?? 0, signal);
    expect((await up.ended()).status).toBe(0);
    expect((await sync.ended()).status).toBe(1);
    const log = await machine.memsync("logs");
    expect(log).toContain(`the daemon ends by=${signal}`);
    expect(log).not.toContain(UNDER_WAY);
    expect(existsSync(join(machine.home, "daemon.sock"))).toBe(false);
    service.close();
  });
}

/** A git that is the real one until the file `hang` is there, and then says who it is and waits. */
async function hangingGit(lab: Lab): Promise<{ path: string; hang(): Promise<void> }> {
  const folder = lab.git.path("bin");
  const real = Bun.which("git", { PATH: lab.git.env.PATH ?? "" });
  const [hang, seen] = [join(folder, "hang"), join(folder, "seen")];
  const script = `#!/bin/sh
test -e '${hang}' || exec '${real}' "$@"
{ ls -l /proc/self/fd; env; } > '${seen}.inherited' 2>&1
echo $$ > '${seen}.new' && mv '${seen}.new' '${seen}'
exec sleep 1000
`;
  await lab.git.write(join(folder, "git"), script);
  await chmod(join(folder, "git"), 0o755);
  return { path: `${folder}:${lab.git.env.PATH}`, hang: () => lab.git.write(hang, "") };
}

scenario("a git that hangs ends with the daemon, and has nothing of it", async (lab) => {
  const machine = await makeMachine(lab);
  const git = await hangingGit(lab);
  const env = { PATH: git.path, MEMSYNC_TOKEN: "mst_PLANTED" };
  expect((await machine.run(["start", machine.folder], { env })).status).toBe(0);
  await git.hang();
  await lab.git.write(join(machine.folder, "CLAUDE.md"), "# Text\n");
  const pid = await waitFor("git to hang", () => {
    const path = lab.git.path("bin", "seen");
    return existsSync(path) && Number(readFileSync(path, "utf8"));
  });
  const inherited = readFileSync(lab.git.path("bin", "seen.inherited"), "utf8");
  expect(inherited).toContain("PATH=");
  expect(inherited).not.toContain(machine.home);
  expect(inherited).not.toContain("PLANTED");
  expect((await machine.run(["stop"], { env })).status).toBe(0);
  const stat = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)])
    .stdout.toString()
    .trim();
  expect(stat).toMatch(/^(Z.*)?$/);
  expect(await machine.memsync("logs")).not.toContain(UNDER_WAY);
});

scenario("`start` and `stop` don't wait for a service that says nothing", async (lab) => {
  const service = await silentService();
  const machine = await makeMachine(lab, service.url);
  const start = await machine.run(["start", machine.folder]);
  expect([start.status, start.stderr]).toEqual([0, ""]);
  expect(start.stdout).toContain("connecting: not reached yet");
  await machine.memsync("stop");
  expect(await machine.memsync("logs")).not.toContain(UNDER_WAY);
  service.close();
});
