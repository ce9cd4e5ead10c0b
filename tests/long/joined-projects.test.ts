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
    const told = inOneLine(await machine.memsync("status"));
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
  expect(told).toContain(`joined to y (${ids.y}) on `);
  await waitFor("every command to say it in a line", async () => {
    const said = (await desk.machine.run(["list"])).stderr;
    return /x is joined to y on \S+: `memsync projects` says what to do\n/.test(said);
  });
  expect(inOneLine(await desk.machine.memsync("logs"))).toContain(`\`memsync ${command}\``);
  const [project] = JSON.parse(await desk.machine.memsync("projects", "--json"));
  expect(project.joined).toMatchObject([{ id: ids.y, name: "y", dirs: [desk.folders.x] }]);
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
  await untilTold(desk.machine, `joined to y (${ids.y}) on `);
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

scenario("a machine that stays in a project says so by one command", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "stays");
  const desk = await machineWithBoth(lab, "desk", "stays");
  const { ids } = lap;
  await lap.machine.memsync("link", "--id", ids.y, "--yes");
  const command = `link ${desk.folders.x} --id ${ids.x}`;
  await untilTold(desk.machine, `\`memsync ${command}\` leaves it as it is`);
  const settled = await desk.machine.run(command.split(" "));
  expect(settled.stdout).toContain(`linked ${desk.folders.x} to x (${ids.x})`);
  expect(inOneLine(settled.stderr)).toContain(
    "x stays as it is on this machine, and nothing more is said here of its being joined to " +
      `y (${ids.y})`,
  );
  await desk.machine.memsync("sync");
  await desk.machine.memsync("restart");
  for (const shown of ["status", "projects"]) {
    const { stdout, stderr } = await desk.machine.run([shown]);
    expect(stdout + stderr).not.toContain("joined");
  }
  expect((await desk.machine.run(["list"])).stderr).toBe("");
  // Another machine is told as before.
  const late = await machineWithBoth(lab, "late", "stays");
  await untilTold(late.machine, `joined to y (${ids.y}) on `);
});

scenario("a join whose home is lost is ended for all machines by one command", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "lost");
  const desk = await machineWithBoth(lab, "desk", "lost");
  const third = await machineWithBoth(lab, "third", "lost");
  const { ids } = lap;
  await lap.machine.memsync("link", "--id", ids.y, "--yes");
  await lap.machine.memsync("sync");
  await lap.machine.memsync("stop");
  await untilTold(third.machine, `joined to y (${ids.y}) on `);
  await third.say(third.folders.x, "link", "--id", ids.y, "--yes");
  await untilTold(desk.machine, `joined to y (${ids.y}) on `);
  const stays = await desk.machine.run(["link", "--id", ids.x]);
  expect(inOneLine(stays.stderr)).toContain(`\`memsync link --id ${ids.x} --everywhere\` ends`);
  const ended = await desk.machine.run(["link", "--id", ids.x, "--everywhere"]);
  expect(inOneLine(ended.stderr)).toContain("are told that it is x again");
  await desk.machine.memsync("sync");
  // The command that ends a join does not repeat it.
  expect(inOneLine(ended.stderr)).not.toContain("says what to do");
  await untilTold(third.machine, `no more joined by x (${ids.x}) on `);
  const late = await machineWithBoth(lab, "late", "lost");
  await late.machine.memsync("sync");
  expect((await late.machine.run(["projects"])).stderr).not.toContain("joined");
  const again = await desk.machine.run(["link", "--id", ids.x, "--everywhere"]);
  expect(inOneLine(again.stderr)).toContain("there was nothing to end");
  const alone = await desk.machine.run(["link", "--everywhere"]);
  expect([alone.status, alone.stdout]).toEqual([2, ""]);
});

scenario("a folder that is linked back after it was unlinked is told to all", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "back");
  const desk = await machineWithBoth(lab, "desk", "back");
  const late = await machineWithBoth(lab, "late", "back");
  const { ids } = lap;
  await lap.machine.memsync("link", "--id", ids.y, "--yes");
  await untilTold(late.machine, `joined to y (${ids.y}) on `);
  await late.machine.memsync("link", "--id", ids.y, "--yes");
  await untilTold(desk.machine, `joined to y (${ids.y}) on `);
  await lap.machine.memsync("unlink", lap.folders.x);
  const back = await lap.machine.run(["link", lap.folders.x, "--id", ids.x, "--yes"]);
  expect(inOneLine(back.stderr)).toContain("have followed into y");
  await lap.machine.memsync("sync");
  await waitFor("the one that stayed to be told no more", async () => {
    await desk.machine.memsync("sync");
    return !(await desk.machine.memsync("status")).includes("joined");
  });
  await untilTold(late.machine, `\`memsync link ${late.folders.x} --id ${ids.x}\` takes it back`);
  // What is at home in the other project has nothing to follow.
  expect(inOneLine(await late.machine.memsync("status"))).not.toContain(`${late.folders.y} --id`);
});

scenario("who has not followed is told where a project went that was deleted", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "deleted");
  const desk = await machineWithBoth(lab, "desk", "deleted");
  const { ids, folders } = lap;
  await lap.say(folders.x, "set", "early", "of x");
  await lap.machine.memsync("sync");
  desk.network.cut();
  await desk.say(desk.folders.x, "set", "late", "of x, offline");
  await lap.say(folders.x, "link", "--id", ids.y, "--yes");
  const into = await lap.machine.run(["project", "rm", ids.y]);
  expect(inOneLine(into.stderr)).toContain(`x (${ids.x}) was joined to it on `);
  const asked = await lap.machine.run(["project", "rm", ids.x]);
  expect(inOneLine(asked.stderr)).toContain("Machines that have not followed are told so");
  await lap.machine.memsync("project", "rm", ids.x, "--yes");
  await lap.machine.memsync("sync");
  // Before the folder goes back to it, not only afterwards.
  const back = ["link", lap.folders.x, "--id", ids.x];
  const warned = inOneLine((await lap.machine.run(back)).stderr);
  expect(warned).toContain("goes to was deleted: without --anew nothing is synced there");
  const begun = inOneLine((await lap.machine.run([...back, "--anew"])).stderr);
  expect(begun).not.toContain("was deleted");
  desk.network.restore();
  const command = `link ${desk.folders.x} --id ${ids.y}`;
  const told = await untilTold(desk.machine, "was deleted since");
  expect(told).toContain(`and was deleted since: \`memsync ${command}\` joins it here, too`);
  const refused = await desk.machine.run(["set", "later", "1"]);
  expect(inOneLine(refused.stderr)).toContain(`\`memsync link DIR --id ${ids.y}\` joins it`);
  const followed = await desk.machine.run([...command.split(" "), "--yes"]);
  expect(inOneLine(followed.stderr)).toContain(`x (${ids.x}) was deleted, and what was deleted`);
  expect(await desk.machine.memsync("get", "late")).toContain("of x, offline");
  const deleted = await desk.machine.memsync("history", "early", "--project", ids.x);
  expect(deleted).toContain("of x");
});

scenario("who unlinks and names no project gets nothing of the one that was left", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "unnamed");
  const { ids, folders } = lap;
  await lap.say(folders.x, "set", "of-x", "1");
  await lap.say(folders.x, "link", "--id", ids.y, "--yes");
  await lap.say(folders.x, "set", "since", "1");
  for (const command of ["link", "start"]) {
    await lap.machine.memsync("unlink", folders.x);
    await lap.machine.memsync(command, folders.x);
    const listed = await lap.say(folders.x, "list", "--layer", "project", "--json");
    expect(JSON.parse(listed)).toEqual([expect.objectContaining({ key: "of-x" })]);
  }
  const end = `link ${folders.x} --id ${ids.x}`;
  const told = inOneLine((await lap.machine.run(["projects"])).stderr);
  expect(told).toContain(`\`memsync ${end}\` ends that for every machine`);
  const ended = inOneLine((await lap.machine.run(end.split(" "))).stderr);
  expect(ended).toContain(`No memory came along: \`memsync list --project ${ids.y}\``);
  expect((await lap.machine.run(["projects"])).stderr).not.toContain("joined");
});

scenario("who unlinks a mistaken join and names the former project takes it back", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "again");
  const { ids, folders } = lap;
  await writeFile(`${folders.x}/CLAUDE.md`, "# x\n");
  await lap.say(folders.x, "set", "of-x", "1");
  await lap.say(folders.y, "set", "of-y", "1");
  await lap.machine.memsync("sync");
  await lap.say(folders.x, "link", "--id", ids.y, "--yes");
  await lap.say(folders.x, "set", "since", "1");
  await lap.machine.memsync("unlink", folders.x);
  const named = ["link", folders.x, "--id", ids.x];
  const asked = await lap.machine.run(named);
  expect([asked.status, inOneLine(asked.stderr)]).toEqual([
    1,
    expect.stringMatching(/was linked to y \(.*Link it back to x \(.* links it to y again/),
  ]);
  const back = await lap.machine.run([...named, "--yes"]);
  const said = inOneLine(back.stderr);
  expect(said).toContain(`\`memsync doc restore --project ${folders.x} `);
  expect(said).toContain(`\`memsync project part ${ids.y}\``);
  expect(said).not.toContain("was linked to another project before");
  const listed = await lap.say(folders.x, "list", "--layer", "project", "--json");
  const keys = JSON.parse(listed).map(({ key }: { key: string }) => key);
  expect(keys.sort()).toEqual(["of-x", "since"]);
  expect((await lap.machine.run(["projects"])).stdout).not.toContain("joined");
  expect(await lap.machine.memsync("project", "part", ids.y, "--yes")).toContain("of-x");
});

scenario(
  "what a mistaken join brought is taken out by one command, and stays at home",
  async (lab) => {
    const lap = await machineWithBoth(lab, "lap", "parted");
    const { ids, folders } = lap;
    await lap.say(folders.x, "set", "of-x", "1");
    await lap.say(folders.x, "set", "changed", "1");
    await lap.say(folders.y, "set", "of-y", "1");
    await lap.say(folders.x, "link", "--id", ids.y, "--yes");
    await lap.say(folders.x, "set", "changed", "2");
    await lap.say(folders.x, "set", "since", "1");
    const asked = await lap.machine.run(["link", folders.x, "--id", ids.x]);
    expect(inOneLine(asked.stderr)).toContain("Link it back to x (");
    const back = await lap.machine.run(["link", folders.x, "--id", ids.x, "--yes"]);
    const command = `project part ${ids.y}`;
    expect(inOneLine(back.stderr)).toContain(`\`memsync ${command}\` lists its memories`);
    const keysIn = async (dir: string) => {
      const listed = await lap.machine.memsync(
        "list",
        "--project",
        dir,
        "--layer",
        "project",
        "--json",
      );
      return JSON.parse(listed)
        .map(({ key }: { key: string }) => key)
        .sort();
    };
    expect(await keysIn(folders.x)).toEqual(["changed", "of-x", "since"]);
    expect(await keysIn(folders.y)).toEqual(["changed", "of-x", "of-y", "since"]);
    const unasked = await lap.machine.run(command.split(" "));
    expect([unasked.status, inOneLine(unasked.stderr)]).toEqual([
      1,
      expect.stringMatching(/Delete 1 memory of y .* everywhere\? .*: of-x\. Say so by --yes/),
    ]);
    await lap.machine.memsync("unlink", folders.y);
    const unsent = await lap.machine.run([...command.split(" "), "--yes"]);
    expect([unsent.status, inOneLine(unsent.stderr)]).toEqual([
      1,
      expect.stringContaining("nothing of it would be sent"),
    ]);
    await lap.machine.memsync("link", folders.y, "--id", ids.y);
    const done = await lap.machine.memsync(...command.split(" "), "--yes");
    expect(done).toContain("deleted 1 memory of y");
    expect(await keysIn(folders.y)).toEqual(["changed", "of-y", "since"]);
    expect(await keysIn(folders.x)).toEqual(["changed", "of-x", "since"]);
    expect(await lap.machine.memsync("history", "of-x", "--project", ids.y)).toContain("1");
    expect(await lap.machine.memsync(...command.split(" "))).toContain(
      "nothing was taken out of y",
    );
  },
);

scenario("a second clone on the machine that has joined a project is told", async (lab) => {
  const lap = await machineWithBoth(lab, "lap", "clones");
  const { ids } = lap;
  const second = await lab.git.repository("lap/x2", { ".gitignore": "CLAUDE.md\n" });
  await lab.git.run(second, "remote", "add", "origin", "https://git.example.com/joined/x.git");
  await lap.machine.memsync("link", second);
  await lap.machine.memsync("link", lap.folders.x, "--id", ids.y, "--yes");
  const command = `link ${second} --id ${ids.y}`;
  const told = await untilTold(lap.machine, `\`memsync ${command}\` joins it here`);
  expect(told).toContain(`joined to y (${ids.y}) on this machine, `);
  await lap.machine.memsync(...command.split(" "), "--yes");
  expect(inOneLine(await lap.machine.memsync("status"))).not.toContain("joins it here");
});

scenario(
  "who joined two projects the other way round, and first, is told to follow",
  async (lab) => {
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
    const command = `link ${lap.folders.y} --id ${ids.x}`;
    await untilTold(
      lap.machine,
      `\`memsync ${command}\` joins it here, too (and so ${lap.folders.x})`,
    );
    await desk.machine.memsync("sync");
    expect(inOneLine(await desk.machine.memsync("status"))).not.toContain("joins it here");
    for (const dir of [lap.folders.y, lap.folders.x]) {
      await lap.machine.memsync("link", dir, "--id", ids.x, "--yes");
    }
    await waitFor("both to be one", async () => {
      for (const each of [lap, desk]) await each.machine.memsync("sync");
      const shown = [lap, desk].map(async ({ machine }) => await machine.memsync("status"));
      return (await Promise.all(shown)).every((text) => !text.includes("joins it here"));
    });
    for (const { machine, folders } of [lap, desk]) {
      for (const dir of [folders.x, folders.y])
        expect((await machine.projectOf(dir)).id).toBe(ids.x);
    }
  },
);
