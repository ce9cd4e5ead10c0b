import { expect } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmod, lstat, readdir, readFile, stat, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { ask, control } from "../support/emulator-calls.ts";
import { EMULATOR_IMAGE } from "../support/emulator-image.ts";
import { scenario } from "../support/lab.ts";
import { MEMSYNC } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const SEED = {
  projects: [{ id: "proj_a", name: "a", memories: [{ key: "build", value: "make" }] }],
  user: { memories: [{ key: "editor", value: "vim" }] },
};

scenario(
  "an emulator begins with a seed, says that it answers, and leaves an export",
  async (lab) => {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    const [seed, after] = [lab.git.path("seed.json"), lab.git.path("after.json")];
    await lab.git.write(seed, JSON.stringify(SEED));
    const real = lab.git.path("out", "real.json");
    await lab.git.write(real, "former");
    await chmod(real, 0o644);
    await symlink(join("out", "real.json"), after);
    // Of one that was killed long ago while it wrote, and of one that may be writing.
    for (const name of ["partial-1", "partial-2"]) await lab.git.write(`${real}.${name}`, "{");
    await utimes(`${real}.partial-1`, 0, 0);
    const args = ["emulator", "--port", "0", "--seed", seed, "--export-on-exit", after];
    const emulated = machine.spawn(args);
    const url = await emulated.untilPrinted(/ready at (\S+)/);
    const { port } = new URL(url);
    const health = await machine.run(["emulator", "health", "--port", port]);
    expect(health).toMatchObject({ status: 0, stdout: `memsync emulator answers at ${url}\n` });
    expect(await machine.run(["emulator", "health", "--url", url])).toEqual(health);
    expect((await machine.run(["emulator", "health", "--url", "nowhere"])).status).toBe(2);
    await emulated.end("SIGTERM");
    expect(JSON.parse(await readFile(real, "utf8"))).toMatchObject(SEED);
    expect((await lstat(after)).isSymbolicLink()).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o644);
    expect((await readdir(lab.git.path("out"))).sort()).toEqual([
      "real.json",
      "real.json.partial-2",
    ]);
    expect((await machine.run(["emulator", "health", "--port", port])).status).toBe(1);
  },
);

for (const signal of ["SIGINT", "SIGHUP"] as const) {
  scenario(`${signal} ends an emulator in good order`, async (lab) => {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    const [seed, after] = [lab.git.path("seed"), lab.git.path("after.json")];
    await lab.git.write(join(seed, "user", "editor.md"), "vim");
    const args = ["emulator", "--port", "0", "--seed", seed, "--export-on-exit", after];
    const emulated = machine.spawn(args);
    await emulated.untilPrinted(/ready at (\S+)/);
    expect(await emulated.end(signal)).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(await readFile(after, "utf8"))).toMatchObject({
      user: { memories: [{ key: "editor", value: "vim" }] },
    });
  });
}

scenario("an export that can't be written is refused at the start", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const args = ["emulator", "--port", "0", "--export-on-exit"];
  const missing = await machine.run([...args, lab.git.path("missing", "after.json")]);
  expect(missing).toMatchObject({ status: 1, stdout: "" });
  expect(missing.stderr).toContain("after.json");
  for (const option of ["--export-on-exit", "--data-dir", "--seed"]) {
    const nowhere = await machine.run(["emulator", "--port", "0", option, ""]);
    expect(nowhere).toMatchObject({ status: 2, stdout: "" });
    expect(nowhere.stderr).toContain(`${option} is empty: say what it is to be`);
  }
  const folder = await machine.run([...args, lab.git.path("a")]);
  expect(folder).toMatchObject({ status: 1, stdout: "" });
  expect(folder.stderr).toContain("is a folder");
  // Nothing is in it until somebody writes into it, and it would be a file then.
  execFileSync("mkfifo", [lab.git.path("pipe")]);
  const pipe = await machine.run([...args, lab.git.path("pipe")]);
  expect(pipe).toMatchObject({ status: 1, stdout: "" });
  expect(pipe.stderr).toContain("pipe is no regular file");
});

scenario("an export that fails at the end leaves nothing half written", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await lab.git.write(lab.git.path("out", "keep.txt"), "");
  const after = lab.git.path("out", "after.json");
  const emulated = machine.spawn(["emulator", "--port", "0", "--export-on-exit", after]);
  await emulated.untilPrinted(/ready at (\S+)/);
  // A file can't be put in place of a folder that has something in it.
  await lab.git.write(join(after, "in-the-way.txt"), "");
  expect((await emulated.end("SIGTERM")).status).not.toBe(0);
  expect((await readdir(lab.git.path("out"))).sort()).toEqual(["after.json", "keep.txt"]);
});

scenario("each wrong place of a seed has a line of its own", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const seed = lab.git.path("bad.json");
  await lab.git.write(seed, '{\n  "usr": {},\n  "globl": {}\n}');
  for (const args of [
    ["emulator", "--port", "0", "--seed", seed],
    ["exec", "--seed", seed, "true"],
  ]) {
    const { status, stderr } = await machine.run(args);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^memsync: \S+bad\.json:2 [^\n]+\n\S+bad\.json:3 [^\n]+\n$/);
  }
});

scenario("a seed that is wrong is said with its place, and no emulator starts", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await lab.git.write(lab.git.path("seeds", "more.json"), '{\n  "user": []\n}');
  const { status, stdout, stderr } = await machine.run([
    "emulator",
    "--port",
    "0",
    "--seed",
    lab.git.path("seeds"),
  ]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/seeds.more\.json:2 \/user must be an object\n$/);
});

scenario(
  "an emulator that other machines reach is controlled with its token alone",
  async (lab) => {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    const emulated = machine.spawn(["emulator", "--host", "0.0.0.0", "--port", "0"]);
    const { port } = new URL(await emulated.untilPrinted(/ready at (\S+)/));
    const token = await emulated.untilPrinted(/need this token: (\S+)/);
    const there = { url: `http://127.0.0.1:${port}` };
    expect((await control(there, "POST reset", { body: {} })).status).toBe(401);
    expect((await control(there, "POST reset", { body: {}, token })).status).toBe(200);
    // No client can call the address that all addresses are listened on by.
    const at = ["--host", "0.0.0.0", "--port", port];
    expect(await machine.memsync("emulator", "env", ...at)).toContain(`MEMSYNC_URL=${there.url}\n`);
    expect(await machine.memsync("emulator", "health", ...at)).toContain(there.url);
    await emulated.end("SIGTERM");
  },
);

scenario("what the container's image runs is reached by any name, and its token", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const { entrypoint, health } = EMULATOR_IMAGE;
  const token = "secret";
  const emulated = machine.spawn([...entrypoint, "--port", "0"], {
    env: { MEMSYNC_EMULATOR_TOKEN: token },
  });
  const { port } = new URL(await emulated.untilPrinted(/ready at (\S+)/));
  expect(await machine.run([...health, "--port", port])).toMatchObject({ status: 0 });
  // As another container calls it.
  const headers = { host: "emulator:4777" };
  const there = { url: `http://127.0.0.1:${port}`, token: "mst_dev_pro" };
  expect((await ask(there, "GET /v1/memories", { headers })).status).toBe(200);
  expect((await control(there, "POST reset", { body: {}, headers })).status).toBe(401);
  expect((await control(there, "POST reset", { body: {}, headers, token })).status).toBe(200);
  expect((await emulated.end("SIGTERM")).status).toBe(0);
  expect(await machine.run([...health, "--port", port])).toMatchObject({ status: 1 });
});

scenario(
  "an emulator ends in good order with whoever started it, if that is asked",
  async (lab) => {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    const after = lab.git.path("after.json");
    const emulator = [...MEMSYNC, "emulator", "--port", "0", "--end-with-stdin"];
    // What starts it holds the other end of its standard input, and is killed.
    const command = JSON.stringify([...emulator, "--export-on-exit", after]);
    const script = `const stdio = ["pipe", "inherit", "inherit"];
    await Bun.spawn(${command}, { stdio }).exited;`;
    const parent = Bun.spawn([process.execPath, "-e", script], {
      env: { ...process.env, HOME: machine.folder, MEMSYNC_HOME: join(machine.folder, "home") },
      stdout: "pipe",
    });
    const { value } = await parent.stdout.getReader().read();
    const url = /ready at (\S+)/.exec(new TextDecoder().decode(value))?.[1] ?? "";
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    parent.kill("SIGKILL");
    await parent.exited;
    const left = await waitFor("the export", () => readFile(after, "utf8").catch(() => undefined));
    expect(JSON.parse(left)).toMatchObject({ projects: [] });
    await waitFor("the port to be closed", () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
  },
);
