import { expect } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

scenario(
  "two machines of one name are told on both, and another name in one home settles it",
  async (lab) => {
    const [a, b] = await lab.twoMachines(emulator.account("namesakes"), { "README.md": "" });
    for (const { home } of [a, b]) await lab.git.write(join(home, "machine"), "debian\n");
    await Promise.all([a.up(), b.up()]);
    await a.memsync("set", "build", "make");
    await b.memsync("set", "test", "make test");
    for (const each of [a, b]) {
      await waitFor(`${each.name} to tell of the other`, async () => {
        await each.sync();
        return (await each.status()).machine.code === "name-twice";
      });
      const command = `echo NAME > ${join(each.home, "machine")}`;
      expect(await each.memsync("status")).toContain("machine   debian   another machine has");
      const findings = JSON.parse(await each.memsync("doctor", "--json"));
      expect(findings).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            about: "name",
            state: "warning",
            detail: expect.stringContaining(command),
          }),
        ]),
      );
    }
    await writeFile(join(b.home, "machine"), "laptop\n");
    expect((await b.status()).machine).toEqual({ name: "laptop", note: null, code: null });
    await b.memsync("set", "ship", "make ship");
    await b.sync();
    await waitFor("the other to hear of it", async () => {
      await a.sync();
      return (await a.status()).machine.code === null;
    });
    expect(await a.memsync("history", "test")).toContain("laptop");
    expect(await a.memsync("history", "build")).toContain("debian");
  },
);
