import { expect } from "bun:test";
import { mkdir } from "node:fs/promises";
import { scenario } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

scenario("up beside a running daemon links there, says so and ends", async (lab) => {
  const [first, second] = await lab.clones({ "README.md": "" });
  const other = lab.git.path("other");
  await mkdir(other);
  const machine = lab.machine("a", first);
  await machine.up();
  const { status, stdout } = await machine.run(["up", second, other]);
  expect(status).toBe(0);
  expect(stdout).toContain("memsync is running already; linked there");
  const dirs = (await machine.status()).projects.flatMap(({ folders }) => folders);
  expect(dirs.map(({ dir }) => dir)).toEqual([first, second, other]);
  expect(machine.daemon?.running).toBe(true);
});

scenario("of two that start at the same moment one is the daemon", async (lab) => {
  const [folder] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("a", folder);
  const started = [machine.begin(), machine.begin()];
  const ended = await waitFor("one of them to end", () => {
    return started.find((process) => !process.running);
  });
  expect((await ended.ended()).status).toBe(0);
  expect(ended.stdout).toContain("memsync is running already");
  const daemon = started.find((process) => process !== ended);
  expect(daemon?.running).toBe(true);
  expect((await machine.status()).projects).toHaveLength(1);
});

scenario(
  "a daemon that was killed leaves nothing that keeps the next from starting",
  async (lab) => {
    const [folder] = await lab.clones({ "README.md": "" });
    const machine = lab.machine("a", folder);
    await machine.up();
    await machine.memsync("set", "key", "value");
    await machine.down("SIGKILL");
    expect(await machine.memsync("get", "key")).toBe("value");
    expect((await machine.run(["status"])).stderr).toContain("no daemon is running");
    await machine.up();
    expect(await machine.memsync("get", "key")).toBe("value");
  },
);

scenario("stop ends the daemon in order", async (lab) => {
  const [folder] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("a", folder);
  await machine.up();
  await machine.memsync("stop");
  expect((await machine.daemon?.ended())?.status).toBe(0);
  expect((await machine.run(["stop"])).status).toBe(1);
});
