import { expect } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
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
      expect(await each.memsync("status")).toContain("machine   debian   another home has");
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
    await waitFor("the other to hear of it, though nothing more is written", async () => {
      await b.sync();
      await a.sync();
      return (await a.status()).machine.code === null;
    });
    expect(await a.memsync("history", "test")).toContain("laptop");
    expect(await a.memsync("history", "build")).toContain("debian");
  },
);

scenario("a home whose database was emptied is not told as another machine", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "CLAUDE.md": "# A\n" }));
  const status = async () => (await machine.status()).machine.code;
  await machine.up();
  await machine.memsync("set", "build", "make");
  await machine.sync();
  await machine.down();
  await writeFile(join(machine.home, "memsync.db"), "");
  for (const end of ["-wal", "-shm"]) {
    await rm(join(machine.home, `memsync.db${end}`), { force: true });
  }
  await machine.up();
  await waitFor("what the service has", async () => {
    await machine.sync();
    return (await machine.list()).some(({ key }) => key === "build");
  });
  await machine.memsync("set", "test", "make test");
  await machine.sync();
  expect(await status()).toBeNull();
});
