import { expect } from "bun:test";
import { mkdir } from "node:fs/promises";
import { startHost } from "../support/host-server.ts";
import { scenario } from "../support/lab.ts";
import { Assistant } from "../support/mcp-client.ts";
import { projectId } from "../support/project-id.ts";

const BOUND = projectId("bound");

scenario("with a token that may only read, each write says that it stays here", async (lab) => {
  await using host = await startHost();
  await host.admin.createAccount("reading", "pro");
  const { token } = await host.token({ account: "reading", scope: "read" });
  const folder = lab.git.path("reading");
  await mkdir(folder);
  const machine = lab.machine("a", folder, { url: host.url, token });
  await machine.memsync("start");
  await machine.memsync("link", "--id", BOUND);
  await machine.run(["sync"]);
  expect((await machine.projectOf()).refused_code).toBe("call-forbidden");
  const kept = "what is changed in the project stays on this machine: it answered 403: this token";
  for (const args of [
    ["set", "key", "value"],
    ["rm", "key"],
    ["set", "key", "value again"],
  ]) {
    const said = await machine.run(args);
    expect([said.status, said.stderr]).toEqual([0, expect.stringContaining(kept)]);
  }
  const assistant = await Assistant.start(machine);
  const told = await assistant.call("remember", { key: "other", value: "it" });
  await assistant.end();
  expect(told.text).toContain(kept);
  const { token: writes } = await host.token({ account: "reading" });
  await machine.run(["login", "--url", host.url, "--token-stdin"], { stdin: writes });
  const env = { MEMSYNC_TOKEN: writes };
  await machine.memsyncWith({ env }, "restart");
  await machine.untilSynced();
  expect((await machine.run(["set", "key", "sent"], { env })).stderr).toBe("");
});
