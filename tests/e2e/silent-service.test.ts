import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { introduce } from "../../daemon/supervise/introduction.ts";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { startSilentServer } from "../support/silent-server.ts";
import { PATIENCE, waitFor } from "../support/wait-for.ts";

const TOKEN = "mst_dev_silent";
/** A call that nobody cuts short takes thirty seconds; a command on a busy machine some, too. */
const SHORT_MS = 12_000 * PATIENCE;

/** A machine whose service takes every connection and answers nothing. */
async function onSilentService(
  lab: Lab,
  use: (machine: Machine, url: string) => Promise<void>,
): Promise<void> {
  const server = await startSilentServer();
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, { url: server.url, token: TOKEN });
  try {
    await use(machine, server.url);
  } finally {
    server.close();
  }
}

/** Runs a command, which takes no longer than `limitMs`. */
async function runShortly(machine: Machine, args: readonly string[], limitMs = SHORT_MS) {
  const startedAt = performance.now();
  const ended = await machine.run(args);
  expect([args, performance.now() - startedAt < limitMs]).toEqual([args, true]);
  return ended;
}

scenario("`sync` keeps its time with a service that never answers, and says so", async (lab) => {
  await onSilentService(lab, async (machine, url) => {
    const begunAt = performance.now();
    await machine.up();
    expect(performance.now() - begunAt).toBeLessThan(SHORT_MS);
    await machine.memsync("set", "key", "value");
    for (const wait of ["0", "1", "3"]) {
      const { status, stderr } = await runShortly(machine, ["sync", "--wait", wait]);
      expect([wait, status]).toEqual([wait, 1]);
      // After ten seconds it counts as offline.
      expect(stderr).toMatch(/^memsync: (offline: )?not everything is synced yet: a \(1 change\)/m);
      expect(stderr).toContain(`${url} has not answered`);
    }
    const { status, stderr } = await runShortly(machine, ["sync"], 20_000 * PATIENCE);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^memsync: offline: not everything is synced yet: .* has not answered/);
    const json = await runShortly(machine, ["sync", "--wait", "0", "--json"]);
    expect(JSON.parse(json.stdout).service).toMatchObject({ online: false, live: false });
  });
});

scenario("`sync` keeps its time with a service that freezes below a live socket", async (lab) => {
  const emulator = await lab.emulator();
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("freezes"));
  await machine.up();
  await machine.memsync("set", "key", "value");
  await machine.sync();
  await waitFor("a live socket", async () => (await machine.status()).service.live);
  emulator.freeze();
  await machine.memsync("set", "key", "another");
  const { status, stderr } = await runShortly(machine, ["sync"], 14_000 * PATIENCE);
  expect(status).toBe(1);
  const [first, ...others] = stderr.trim().split("\n");
  expect(first).toMatch(/^memsync: not everything is synced yet: a \(1 change\) waits; /);
  expect(first).toMatch(/ has not answered for \d+ s; waiting for up to 30 seconds, or for longer/);
  expect(others.join("\n")).toMatch(/^memsync: offline: not everything is .* has not answered/);
  for (const wait of ["0", "3"]) {
    const ended = await runShortly(machine, ["sync", "--wait", wait], 5000 * PATIENCE);
    expect([wait, ended.status]).toEqual([wait, 1]);
    expect(ended.stderr).toContain("not everything is synced yet: a (1 change)");
  }
});

scenario("what asks a service that never answers gives up and says so", async (lab) => {
  await onSilentService(lab, async (machine, url) => {
    await machine.up();
    const within = 20_000 * PATIENCE;
    const asked = [["stats"], ["sessions"], ["connect", "proj_a", "proj_b"]].map((args) =>
      runShortly(machine, args, within),
    );
    const login = machine.run(["login", "--url", url, "--token-stdin"], { stdin: TOKEN });
    const [stats, sessions, connect] = await Promise.all(asked);
    for (const answered of [stats, sessions]) {
      expect(answered?.status).toBe(0);
      expect(answered?.stdout).toContain("it did not answer within 10 seconds");
    }
    expect([connect?.status, connect?.stdout]).toEqual([1, ""]);
    expect(connect?.stderr).toContain("it did not answer within 10 seconds");
    const { status, stderr } = await login;
    expect(status).toBe(1);
    expect(stderr).toMatch(/could not be tried at .* \(it did not answer within 10 seconds\)/);
  });
});

scenario("`sync` keeps its time with a daemon that is stopped where it stands", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await machine.up();
  machine.daemon?.freeze();
  const { status, stderr } = await runShortly(machine, ["sync", "--wait", "1"]);
  expect([status, stderr]).toEqual([
    1,
    "memsync: the daemon does not answer: `memsync restart` starts another in its place\n",
  ]);
});

scenario("a daemon that takes a call and never ends it is given up", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  mkdirSync(machine.home, { recursive: true, mode: 0o700 });
  const server = Bun.serve({
    unix: join(machine.home, "daemon.sock"),
    fetch: ({ url }) =>
      url.endsWith("/_memsync/daemon")
        ? Response.json(introduce("foreground", {}))
        : new Promise<Response>(() => {}),
  });
  try {
    const { status, stderr } = await runShortly(machine, ["sync", "--wait", "1"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^memsync: the daemon did not answer within 5 seconds: /);
    expect(stderr).toContain("`memsync preview` shows what is not synced yet");
  } finally {
    await server.stop(true);
  }
});
