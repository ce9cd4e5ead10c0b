import { expect } from "bun:test";
import { writeFile } from "node:fs/promises";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

const inOneLine = (text: string) => text.replaceAll(/\s+/g, " ");

/** A machine with two repositories, `x` and `y`, whose URLs are the same on every machine. */
async function machineWithBoth(lab: Lab, name: string, account: string) {
  const folders: Record<"x" | "y", string> = { x: "", y: "" };
  for (const each of ["x", "y"] as const) {
    folders[each] = await lab.git.repository(`${name}/${each}`, { ".gitignore": "CLAUDE.md\n" });
    const url = `https://git.example.com/joined/${each}.git`;
    await lab.git.run(folders[each], "remote", "add", "origin", url);
  }
  const network = await lab.network(emulator.account(account));
  const machine = lab.machine(name, folders.x, network);
  await machine.memsync("start", folders.x, folders.y);
  const ids = {
    x: (await machine.projectOf(folders.x)).id,
    y: (await machine.projectOf(folders.y)).id,
  };
  const say = (cwd: string, ...args: string[]) => machine.memsyncWith({ cwd }, ...args);
  return { machine, network, folders, ids, say };
}

async function untilTold(machine: Machine, what: string): Promise<string> {
  return await waitFor(`${machine.name} to be told: ${what}`, async () => {
    await machine.memsync("sync");
    const told = inOneLine((await machine.run(["list"])).stderr);
    return told.includes(what) ? told : undefined;
  });
}

scenario("a machine that goes on in a project is told where another has linked it", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "joined");
  const desk = await machineWithBoth(lab, "desk", "joined");
  const { ids } = lap;
  await lap.machine.memsync("set", "early", "of x");
  const asked = await lap.machine.run(["link", "--id", ids.y]);
  expect(inOneLine(asked.stderr)).toContain(
    "Other machines are told, and go on in x until the same is done there: what they " +
      "write meanwhile comes then.",
  );
  const linked = await lap.machine.run(["link", "--id", ids.y, "--yes"]);
  expect(linked.stdout).toContain(`linked ${lap.folders.x} to y (${ids.y})`);
  expect(inOneLine(linked.stderr)).toContain("go on in x until `memsync link --id");
  await lap.machine.memsync("sync");
  const command = `link ${desk.folders.x} --id ${ids.y}`;
  const told = await untilTold(desk.machine, `\`memsync ${command}\` joins it here, too`);
  expect(told).toContain(`x is joined to y (${ids.y}) on `);
  expect(inOneLine(await desk.machine.memsync("status"))).toContain(`\`memsync ${command}\``);
  expect(inOneLine(await desk.machine.memsync("logs"))).toContain(`\`memsync ${command}\``);
  const [project] = JSON.parse(await desk.machine.memsync("projects", "--json"));
  expect(project.joined).toMatchObject([{ id: ids.y, name: "y", dir: desk.folders.x }]);
  const refused = await desk.machine.run(["project", "rm", "."]);
  expect(inOneLine(refused.stderr)).toContain(`It is joined to y (${ids.y})`);
  // Until the list has shown it, every command says so; the status always does.
  expect(inOneLine((await desk.machine.run(["projects"])).stderr)).toContain(command);
  expect((await desk.machine.run(["list"])).stderr).not.toContain("is joined to");
  // The machine that has done it, and what is at home in the other project, are told nothing.
  const unlinked = await lap.machine.run(["projects"]);
  expect(unlinked.stdout).toContain("joined to y");
  expect(inOneLine(await lap.machine.memsync("status"))).not.toContain("joins it here");
  await desk.machine.memsync("set", "late", "of x, after");
  await desk.machine.memsync("sync");
  await desk.machine.memsync(...command.split(" "), "--yes");
  await desk.machine.memsync("sync");
  expect(inOneLine(await desk.machine.memsync("status"))).not.toContain("joins it here");
  await waitFor("what came late to come", async () => {
    await lap.machine.memsync("sync");
    return (await lap.machine.run(["get", "late"])).stdout === "of x, after";
  });
});

scenario("of a project without a link nothing is sent but where its folder went", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "alone");
  const desk = await machineWithBoth(lab, "desk", "alone");
  const { ids } = lap;
  await lap.machine.memsync("set", "early", "of x");
  await lap.machine.memsync("sync");
  /** Writes into x, to which no folder is linked, and shows what becomes of it. */
  const writeAlone = async ({ machine }: typeof lap, key: string) => {
    const said = await machine.run(["set", key, "stays here", "--project", ids.x]);
    expect(inOneLine(said.stderr)).toContain("so nothing of it is sent until `memsync link");
    expect(inOneLine(await machine.memsync("status"))).toContain("1 change on this machine only");
  };
  lap.network.cut();
  await lap.say(lap.folders.x, "link", "--id", ids.y, "--yes");
  await writeAlone(lap, "of-lap");
  lap.network.restore();
  await untilTold(desk.machine, `x is joined to y (${ids.y}) on `);
  await lap.machine.memsync("sync");
  expect(inOneLine(await lap.machine.memsync("preview"))).toContain("nothing of it is sent");
  // A machine that has heard of the join has nothing to say of it.
  await desk.machine.memsync("unlink", desk.folders.x);
  await writeAlone(desk, "of-desk");
  for (const { machine } of [lap, desk]) {
    await machine.memsync("stop");
    await machine.memsync("start");
    await machine.memsync("sync");
  }
  const late = await machineWithBoth(lab, "late", "alone");
  await late.machine.memsync("sync");
  const there = inOneLine(await late.machine.memsync("list"));
  expect(there).toContain("early");
  expect(there).not.toContain("of-lap");
  expect(there).not.toContain("of-desk");
});

scenario("two machines that joined two projects in opposite directions both know", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "crossed");
  const desk = await machineWithBoth(lab, "desk", "crossed");
  const { ids } = lap;
  for (const each of ["x", "y"] as const) {
    await writeFile(`${lap.folders[each]}/CLAUDE.md`, `# ${each}\n`);
    await lap.say(lap.folders[each], "set", `of-${each}`, "1");
  }
  await lap.machine.memsync("sync");
  for (const each of [lap, desk]) await each.machine.memsync("sync");
  for (const each of [lap, desk]) each.network.cut();
  await lap.say(lap.folders.x, "link", "--id", ids.y, "--yes");
  await desk.say(desk.folders.y, "link", "--id", ids.x, "--yes");
  for (const each of [lap, desk]) each.network.restore();
  await untilTold(lap.machine, `\`memsync link ${lap.folders.y} --id ${ids.x}\``);
  await untilTold(desk.machine, `\`memsync link ${desk.folders.x} --id ${ids.y}\``);
  // One of them gives way, and nobody is told any more.
  for (const each of ["y", "x"] as const) {
    await lap.say(lap.folders[each], "link", "--id", ids.x, "--yes");
  }
  await waitFor("both to be one", async () => {
    for (const each of [lap, desk]) await each.machine.memsync("sync");
    const shown = [lap, desk].map(async ({ machine }) => await machine.memsync("status"));
    return (await Promise.all(shown)).every((text) => !text.includes("joins it here"));
  });
});
