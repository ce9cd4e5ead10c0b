import { expect } from "bun:test";
import { writeFile } from "node:fs/promises";
import { type Fault, openBreakingProxy } from "../support/breaking-proxy.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PUBLISHED_ONLY } from "../support/plain-service.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator({ args: PUBLISHED_ONLY });
const FILE = "CLAUDE.md";

/** A call that is not to be survived, and whether it reaches the service. */
interface Step {
  readonly call: string;
  readonly reached: boolean;
}

const STEPS: readonly Step[] = [
  { call: "POST /v1/memories", reached: false },
  { call: "POST /v1/memories", reached: true },
  { call: "DELETE /v1/memories", reached: false },
  { call: "DELETE /v1/memories", reached: true },
  { call: "POST /api/projects", reached: false },
  { call: "POST /api/projects", reached: true },
];

/** Kills a machine's daemon at one call, once. */
function killAt(machine: () => Machine, { call, reached }: Step): Fault & { over?: boolean } {
  const fault: Fault & { over?: boolean } = async (request, pass) => {
    const isIt = `${request.method} ${request.path}`.startsWith(call);
    if (!isIt || fault.over !== false) return await pass();
    const answer = reached ? await pass() : undefined;
    fault.over = true;
    await machine().down("SIGKILL");
    return answer ?? { status: 500, type: "application/json", body: "{}" };
  };
  return fault;
}

async function shown(machine: Machine, layer: string): Promise<string[]> {
  return (await machine.list("--layer", layer)).map(({ value }) => value).sort();
}

async function killOnce(lab: Lab, step: Step, at: number): Promise<void> {
  const account = emulator.account(`step-${at}`);
  const [folderA, folderB] = await lab.clones({ ".gitignore": FILE });
  let a: Machine | undefined;
  const machine = () => a as Machine;
  const fault = killAt(machine, step);
  using proxy = openBreakingProxy((request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(account.url + pathname + search, request));
  }, fault);
  a = lab.machine("a", folderA, { url: proxy.url, token: account.token });
  const b = lab.machine("b", folderB, account);
  await a.up();
  await a.memsync("set", "style", "tabs", "--layer", "user");
  await a.memsync("set", "kept", "1");
  await a.memsync("set", "gone", "2");
  await writeFile(`${folderA}/${FILE}`, "# Text\n");
  await a.untilSynced();
  await a.down();
  await a.memsync("set", "style", "spaces", "--layer", "user");
  await a.memsync("set", "kept", "3");
  await a.memsync("rm", "gone");
  await writeFile(`${folderA}/${FILE}`, "# Text\n\nmore\n");
  fault.over = false;
  a.begin();
  await waitFor("the daemon to be killed", () => fault.over === true && !machine().daemon?.running);
  await a.up();
  await a.untilSynced();
  await b.up();
  await b.untilSynced();
  for (const each of [a, b]) {
    expect(await shown(each, "user")).toEqual(["spaces"]);
    expect(await shown(each, "project")).toEqual(["3"]);
    expect(await each.memsync("doc")).toBe("# Text\n\nmore\n");
  }
  expect(await a.memsync("get", "style", "--layer", "user")).toBe("spaces");
}

for (const [at, step] of STEPS.entries()) {
  const when = step.reached ? "after" : "before";
  scenario(`a daemon killed ${when} ${step.call} loses and doubles nothing`, (lab) =>
    killOnce(lab, step, at),
  );
}

scenario("a plain service killed under load ends with everything, once", async (lab) => {
  const service = await lab.emulator(lab.git.path("data"), PUBLISHED_ONLY);
  const [a, b] = await lab.twoMachines(service.account("load"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  for (let round = 0; round < 3; round++) {
    await a.memsync("set", `a-${round}`, `of a, ${round}`);
    await b.memsync("set", `b-${round}`, `of b, ${round}`);
    await a.memsync("add", `user of a, ${round}`, "--layer", "user");
    await Promise.all([a.syncOnce(), service.end("SIGKILL")]);
    await service.again();
  }
  await waitFor("both machines to hold all of it", async () => {
    await a.untilSynced();
    await b.untilSynced();
    const counts = await Promise.all([a, b].map(async (each) => (await each.list()).length));
    return counts.every((count) => count === 9);
  });
  for (const each of [a, b]) {
    expect(await shown(each, "user")).toEqual([0, 1, 2].map((round) => `user of a, ${round}`));
  }
});

scenario("a service that gains the exchange is synced with by it from then on", async (lab) => {
  const service = await lab.emulator(lab.git.path("data"), PUBLISHED_ONLY);
  const files = { ".gitignore": FILE };
  const [a, b] = await lab.twoMachines(service.account("gains"), files);
  await Promise.all([a.up(), b.up()]);
  await writeFile(`${a.folder}/${FILE}`, "# Text\n\nline\n");
  await a.memsync("set", "kept", "1");
  await a.untilSynced();
  await b.untilSynced();
  expect((await b.status()).service.plain).toBe(true);
  await service.end();
  await service.again([]);
  for (const each of [a, b]) {
    await waitFor(`${each.name} to be live`, async () => {
      await each.syncOnce();
      return (await each.status()).service.live;
    });
  }
  await b.memsync("set", "kept", "2");
  await waitFor("it on a", async () => (await a.memsync("get", "kept")) === "2");
  for (const each of [a, b]) expect(await each.memsync("doc")).toBe("# Text\n\nline\n");
});
