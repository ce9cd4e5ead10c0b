import { expect } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

scenario("`up` beside a running daemon links there, says so and ends with 0", async (lab) => {
  const first = await lab.git.repository("first", { "README.md": "" });
  const second = await lab.git.repository("second", { "README.md": "2" });
  const machine = lab.machine("a", first, emulator.account("beside"));
  await machine.up();
  const beside = await machine.run(["up"], { cwd: second });
  expect([beside.status, beside.stderr]).toEqual([0, ""]);
  expect(beside.stdout).toContain("memsync is running already; linked there");
  const { projects } = await machine.status();
  expect(projects.flatMap(({ folders }) => folders.map(({ dir }) => dir))).toEqual([first, second]);
  expect(machine.daemon?.running).toBe(true);
});

for (const command of ["up", "start"]) {
  scenario(`\`${command}\` of several folders says which it could not link`, async (lab) => {
    const folders: string[] = [];
    for (const name of ["one", "two words", "three"]) {
      folders.push(await lab.git.repository(name, { "README.md": name }));
    }
    const [one = "", two = "", three = ""] = folders;
    const machine = lab.machine("a", one);
    await machine.memsync("start", one);
    const home = lab.git.folder;
    const { status, stdout, stderr } = await machine.run([command, one, home, two, three]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `memsync: linked: ${one} '${two}' ${three}\nmemsync: not linked: ${home}\n` +
        `memsync: ${home} is your home folder, or holds it: link the folder of one project\n`,
    );
    const { projects } = await machine.status();
    const dirs = projects.flatMap((project) => project.folders.map(({ dir }) => dir));
    expect(dirs.sort()).toEqual([one, three, two].sort());
    await machine.memsync("stop");
  });
}

scenario("two `up` started at the same moment are one daemon", async (lab) => {
  const first = await lab.git.repository("first", { "README.md": "" });
  const second = await lab.git.repository("second", { "README.md": "2" });
  const machine = lab.machine("a", first, emulator.account("race"));
  const both = [machine.spawn(["up"]), machine.spawn(["up"], { cwd: second })];
  const ended = await waitFor("one of them to end", () => both.find(({ running }) => !running));
  const { status, stdout } = await ended.ended();
  expect(status).toBe(0);
  expect(stdout).toContain("memsync is running already; linked there");
  const other = both.find((each) => each !== ended);
  await other?.untilPrinted(/memsync is up/);
  const { projects } = await machine.status();
  expect(projects).toHaveLength(2);
  await machine.memsync("stop");
  expect((await other?.ended())?.status).toBe(0);
});

scenario("`stop` ends the daemon in order, and commands say that none runs", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("stop"));
  await machine.up();
  await machine.memsync("stop");
  expect(await machine.daemon?.ended()).toMatchObject({ status: 0, stderr: "" });
  expect(existsSync(join(machine.home, "daemon.sock"))).toBe(false);
  for (const command of ["sync", "link", "unlink", "env"]) {
    const { status, stdout, stderr } = await machine.run([command]);
    expect([command, status, stdout]).toEqual([command, 1, ""]);
    expect(stderr).toBe("memsync: no daemon is running: start it with `memsync start`\n");
  }
  expect(await machine.memsync("stop")).toBe("no daemon was running\n");
  expect(JSON.parse(await machine.memsync("stop", "--json"))).toEqual({
    stopped: false,
    killed: false,
  });
  const fresh = lab.machine("fresh", folder);
  expect(await fresh.memsync("stop")).toBe("no daemon was running\n");
  expect(existsSync(fresh.home)).toBe(false);
});

scenario("a signal ends the daemon in order", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("signal"));
  await machine.up();
  await machine.memsync("set", "key", "value");
  expect((await machine.down("SIGTERM"))?.status).toBe(0);
  await machine.up();
  expect(await machine.memsync("get", "key")).toBe("value");
});

scenario("what a killed daemon left does not keep the next one from starting", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("left"));
  await machine.up();
  await machine.down("SIGKILL");
  expect(existsSync(join(machine.home, "daemon.sock"))).toBe(true);
  expect((await machine.run(["status"])).status).toBe(1);
  await machine.memsync("set", "between", "daemons");
  await machine.up();
  expect(await machine.memsync("get", "between")).toBe("daemons");
  expect((await machine.projectOf()).memories).toBe(1);
});

scenario("without a service configured everything is kept under the home", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { ".gitignore": "CLAUDE.md" }));
  await lab.git.write(`${machine.folder}/CLAUDE.md`, "# Text\n");
  await machine.up();
  await machine.memsync("set", "key", "value");
  await machine.sync();
  expect(await machine.memsync("status")).toContain("embedded, kept in");
  await machine.down("SIGKILL");
  await machine.up();
  expect(await machine.memsync("get", "key")).toBe("value");
  expect(await machine.memsync("doc")).toBe("# Text\n");
});

scenario("`--json` prints JSON alone", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("json"));
  const daemon = machine.spawn(["up", "--json"]);
  const status = await waitFor("the daemon", async () => await machine.status());
  await daemon.untilPrinted(/\n\}\n/);
  expect(JSON.parse(daemon.stdout)).toMatchObject({ version: status.version, home: machine.home });
  const commands = ["status", "projects", "list", "doc", "env", "sync", "link"];
  for (const command of commands) JSON.parse(await machine.memsync(command, "--json"));
});

scenario(
  "while `up` still looks at the folders, it says at how many it has looked",
  async (lab) => {
    const names = ["a", "b", "c"];
    for (const name of names) await lab.git.repository(name, { "CLAUDE.md": `# ${name}\n` });
    const machine = lab.machine("a", lab.git.path("a"));
    await machine.up(...names.map((name) => lab.git.path(name)));
    await machine.down();
    const opened = lab.git.path("opened");
    const slow = `#!/bin/sh\nwhile [ ! -e '${opened}' ]; do sleep 0.05; done\n`;
    const bin = lab.git.path("bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "git"), `${slow}exec '${Bun.which("git")}' "$@"\n`, { mode: 0o755 });
    machine.variables = { PATH: `${bin}:${lab.git.env.PATH}` };
    const up = machine.begin();
    await waitFor("the first sign", () => up.stderr.includes("memsync: looking at the folders: "));
    expect(up.stderr).toMatch(/looking at the folders: [0-2] of 3 so far\n/);
    writeFileSync(opened, "");
    await up.untilPrinted(/memsync is up/);
  },
);
