import { expect } from "bun:test";
import { scenario, sharedEmulator } from "../support/lab.ts";

const emulator = sharedEmulator();

scenario("a port in use is one sentence and exit status 1", async (lab) => {
  const [folder] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("a", folder);
  const { port } = new URL(emulator.account("any").url);
  const { status, stdout, stderr } = await machine.run(["emulator", "--port", port]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^memsync: port \d+ on 127\.0\.0\.1 is in use[^\n]+\n$/);
  const env = { MEMSYNC_GATEWAY_PORT: port };
  for (const args of [
    ["emulator", "--port", port, "--json"],
    ["up", "--json"],
  ]) {
    const failed = JSON.parse((await machine.run(args, { env })).stdout) as { error: unknown };
    expect(failed.error).toMatchObject({ code: "port-in-use" });
  }
});

scenario("a daemon that runs says that it does not have the port of this shell", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  await machine.memsync("start");
  const { stderr } = await machine.run(["start"], { env: { MEMSYNC_GATEWAY_PORT: "9" } });
  expect(stderr).toContain("MEMSYNC_GATEWAY_PORT is 9 here, and the running daemon");
  expect((await machine.run(["start"])).stderr).toBe("");
});
