import { expect } from "bun:test";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILES = {
  "packages/api/a.ts": "export {};\n",
  "packages/api/src/b.ts": "export const b = 1;\n",
};

/** Two machines with packages/api linked, which a renames, and b pulls. */
async function renamedOnA(lab: Lab, account: string) {
  const [a, b] = await lab.twoMachines(emulator.account(account), FILES);
  for (const machine of [a, b]) {
    await machine.memsync("start");
    await machine.memsync("link", join(machine.folder, "packages", "api"));
  }
  const at = (machine: Machine, name: string) => join(machine.folder, "packages", name);
  await a.memsyncWith({ cwd: at(a, "api") }, "set", "port", "4100");
  await b.untilSynced();
  const { id } = await b.projectOf(at(b, "api"));
  await lab.git.run(a.folder, "mv", "packages/api", "packages/server");
  await lab.git.commit(a.folder, {});
  await lab.git.run(a.folder, "push", "-q");
  await lab.git.run(b.folder, "pull", "-q");
  return { b, id, api: at(b, "api"), server: at(b, "server") };
}

const inOneLine = (text: string) => text.replaceAll(/\n\s*/g, " ");
const goesOn = (folder: string, id: string) => `\`memsync link ${folder} --id ${id}\``;

scenario(
  "a folder that git renamed on another machine is found, and nothing around it is taken for it",
  async (lab) => {
    const { b, id, api, server } = await renamedOnA(lab, "renamed-pulled");
    const note = await waitFor("a note about the folder", async () => {
      return (await b.fileStatus(api))?.repository;
    });
    expect(note).toContain(`git has renamed it to ${server}`);
    expect(note).toContain(goesOn(server, id));
    const here = { cwd: join(server, "src") };
    for (const args of [["link"], ["link", "."], ["link", "--id", id], ["set", "k", "v"]]) {
      const { status, stderr } = await b.run(args, here);
      expect([args, status]).toEqual([args, 1]);
      expect(inOneLine(stderr)).toContain(`git has renamed ${api} to ${server}`);
      expect(inOneLine(stderr)).toContain(goesOn(server, id));
    }
    expect(inOneLine(await b.memsyncWith(here, "status"))).toContain(goesOn(server, id));
    // Who means the repository around it names that, and is told of the other.
    const linked = await b.run(["link", b.folder], here);
    expect(linked.status).toBe(0);
    expect(inOneLine(linked.stderr)).toContain(goesOn(server, id));
    expect(linked.stderr).not.toContain(`link ${b.folder} --id`);
    expect((await b.run(["set", "k", "v"], here)).status).toBe(1);
    await b.memsync("link", server, "--id", id);
    expect(await b.memsyncWith(here, "get", "port")).toBe("4100");
    expect((await b.projectOf(server)).id).toBe(id);
  },
);

scenario("what git renamed can be a project of its own as well", async (lab) => {
  const { b, id, server } = await renamedOnA(lab, "renamed-anew");
  const { stderr } = await b.run(["link", server], { cwd: server });
  expect(inOneLine(stderr)).toContain(goesOn(server, id));
  expect((await b.projectOf(server)).id).not.toBe(id);
  await b.memsyncWith({ cwd: server }, "set", "k", "v");
});
