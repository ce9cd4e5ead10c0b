import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { openSmallDisk } from "../support/small-disk.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

async function makeMachine(lab: Lab): Promise<Machine> {
  return lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
}

const WRONG: readonly (readonly string[])[] = [
  [],
  ["nonsense"],
  ["set", "key"],
  ["set", "key", "value", "more"],
  ["set", "key", "value", "--layer", "nonsense"],
  ["get"],
  ["get", "key", "--nonsense"],
  ["list", "--layer", "nonsense"],
  ["link", "--id", "nonsense"],
  ["link", "--write", "--no-write"],
  ["link", "--no-write", ".", "--write"],
  ["sync", "--wait", "soon"],
  ["history"],
  ["restore", "key"],
  ["history", "key", "--layer", "nonsense"],
  ["doc", "nonsense"],
  ["doc", "restore"],
  ["conflicts", "nonsense"],
  ["conflicts", "show"],
  ["help", "nonsense"],
  ["server", "nonsense"],
  // Not in this version, as docs/interface.md says.
  ["emulator", "--cors", "https://example.com"],
  ["open"],
  ["conflicts", "--layer", "nonsense"],
  ["emulator", "--port", "nonsense"],
  ["emulator", "--port", "65536"],
  ["emulator", "--plan", "free"],
  ["emulator", "--memory", "--data-dir", "data"],
  ["server", "--database-url", "nonsense"],
  ["login", "--url", "nonsense"],
  ["login", "--url", "https://memory.example.com/v1"],
  ["login", "--remote", "No Name"],
  ["remote", "add", "acme", "nonsense"],
  ["remote", "add", "acme", "https://memory.example.com/api/"],
  ["remote", "add", "No Name", "https://memory.example.com"],
];

scenario("wrong usage ends with 2, a sentence on standard error and nothing else", async (lab) => {
  const machine = await makeMachine(lab);
  for (const args of WRONG) {
    const { status, stdout, stderr } = await machine.run(args);
    expect([args, status, stdout]).toEqual([args, 2, ""]);
    expect(stderr).not.toBe("");
  }
});

scenario("help and the version are printed and are no failure", async (lab) => {
  const machine = await makeMachine(lab);
  expect(await machine.memsync("--help")).toContain("Usage: memsync");
  expect(await machine.memsync("set", "--help")).toContain("standard input");
  expect(await machine.memsync("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
});

/** Ends with 1, one sentence on standard error and nothing on standard output. */
async function expectRefusal(machine: Machine, args: readonly string[], sentence: RegExp) {
  const { status, stdout, stderr } = await machine.run(args);
  expect([args, status, stdout]).toEqual([args, 1, ""]);
  expect(stderr).toMatch(/^memsync: [^\n]+\n$/);
  expect(stderr).toMatch(sentence);
}

scenario("a home that can't be written is said in one sentence", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  await lab.git.write(lab.git.path("home-a"), "a file");
  const machine = lab.machine("a", folder);
  await expectRefusal(machine, ["up"], /the home .* can't be (written|read)/);
  const set = ["set", "key", "value", "--layer", "user"];
  await expectRefusal(machine, set, /the home .* can't be (written|read)/);
  await expectRefusal(machine, ["status"], /no daemon is running/);
});

scenario(
  "a log that can't be written keeps the daemon from starting, and is named",
  async (lab) => {
    const machine = await makeMachine(lab);
    await mkdir(join(machine.home, "daemon.log"), { recursive: true });
    for (const command of ["start", "up"]) {
      await expectRefusal(
        machine,
        [command],
        /log \S+daemon\.log can't be written: it is a folder/,
      );
    }
  },
);

scenario("what is no database is said in one sentence, and set aside by `up`", async (lab) => {
  const machine = await makeMachine(lab);
  await lab.git.write(`${machine.home}/memsync.db`, "this is no database, whatever it is called");
  await expectRefusal(machine, ["list", "--layer", "user"], /memsync\.db/);
  await machine.up();
  expect((await machine.status()).damaged).toHaveLength(1);
});

scenario(
  "a port in use, and a folder that is a file, keep the emulator from starting",
  async (lab) => {
    const machine = await makeMachine(lab);
    const { port } = new URL(emulator.account("port").url);
    await expectRefusal(
      machine,
      ["emulator", "--port", port],
      new RegExp(`port ${port} .* is in use`),
    );
    await lab.git.write(lab.git.path("file"), "");
    const onFile = ["emulator", "--port", "0", "--data-dir", lab.git.path("file")];
    await expectRefusal(machine, onFile, /\/file can't be used: a file stands where/);
    const folder = lab.git.path("mine");
    await mkdir(folder, { mode: 0o755 });
    const running = machine.spawn(["emulator", "--port", "0", "--data-dir", folder]);
    await running.untilPrinted(/ready/);
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
    expect((await stat(join(folder, "emulator.db"))).mode & 0o777).toBe(0o600);
    await running.end("SIGTERM");
  },
);

scenario("a relative MEMSYNC_HOME is refused, and nothing is made", async (lab) => {
  const machine = await makeMachine(lab);
  for (const args of [["list"], ["set", "k", "v", "--layer", "user"], ["start"], ["status"]]) {
    const env = { MEMSYNC_HOME: "relative/home" };
    const { status, stdout, stderr } = await machine.run(args, { env });
    expect([args, status, stdout]).toEqual([args, 1, ""]);
    expect(stderr).toStartWith("memsync: MEMSYNC_HOME is a relative path, relative/home: ");
  }
  expect(existsSync(join(machine.folder, "relative"))).toBe(false);
  const tilde = await machine.run(["list"], { env: { MEMSYNC_HOME: "~/home" } });
  expect([tilde.status, tilde.stderr]).toEqual([
    1,
    expect.stringMatching(/: set it to \/.*home$/m),
  ]);
});

scenario("a folder whose name is empty is refused, and nothing is linked", async (lab) => {
  const machine = await makeMachine(lab);
  const { status, stderr } = await machine.run(["link", ""]);
  expect([status, stderr]).toEqual([2, "memsync: <dir> is empty: `.` is the current folder\n"]);
});

scenario("a full disk is named, and ending what does not run is no failure there", async (lab) => {
  const machine = await makeMachine(lab);
  using disk = openSmallDisk(join(machine.folder, "small"));
  // Only a file system of its own is full for everybody.
  if (disk?.kind !== "tmpfs") return;
  const home = join(machine.folder, "small", "home");
  const env = { MEMSYNC_HOME: home };
  expect((await machine.run(["set", "k", "v", "--layer", "user"], { env })).status).toBe(0);
  await machine.run(["stop"], { env });
  disk.fill();
  const stopped = await machine.run(["stop"], { env });
  expect([stopped.stderr, stopped.status]).toEqual(["", 0]);
  for (const command of ["start", "up", "set k2 v2 --layer user"]) {
    const { status, stderr } = await machine.run(command.split(" "), { env });
    expect([command, status, stderr]).toEqual([command, 1, expect.stringContaining(home)]);
  }
});

scenario("a daemon on a full disk is ended, and a refused link names the disk", async (lab) => {
  const machine = await makeMachine(lab);
  using disk = openSmallDisk(join(machine.folder, "small"));
  if (disk?.kind !== "tmpfs") return;
  const home = join(machine.folder, "small", "home");
  const env = { MEMSYNC_HOME: home };
  await machine.memsyncWith({ env }, "start");
  disk.fill();
  // The folder is on another disk, which has room.
  const linked = await machine.run(["link"], { env });
  expect([linked.status, linked.stderr.replace(/\s+/g, " ")]).toEqual([
    1,
    expect.stringContaining(`the disk of ${home} is full: make room and try again`),
  ]);
  const { status, stdout, stderr } = await machine.run(["stop"], { env });
  expect([status, stdout, stderr]).toEqual([0, "memsync has ended\n", ""]);
  expect((await machine.run(["stop"], { env })).stdout).toBe("no daemon was running\n");
});

scenario("on a disk that can only be read every command names it and what to do", async (lab) => {
  const machine = await makeMachine(lab);
  using disk = openSmallDisk(join(machine.folder, "small"));
  if (disk?.kind !== "tmpfs") return;
  const home = join(machine.folder, "small", "home");
  const env = { MEMSYNC_HOME: home };
  await machine.memsyncWith({ env }, "set", "k", "v", "--layer", "user");
  await machine.memsyncWith({ env }, "start");
  await machine.memsyncWith({ env }, "stop");
  await disk.close();
  const commands = ["link", "add text", "get k", "list", "doc", "status", "start", "up", "held"];
  for (const command of commands) {
    const { status, stderr } = await machine.run(command.split(" "), { env });
    expect([command, status, stderr.replace(/\s+/g, " ")]).toEqual([
      command,
      1,
      expect.stringContaining(`the disk of ${home} is mounted read-only: mount it for writing`),
    ]);
  }
  const examined = (await machine.run(["doctor"], { env })).stdout.replace(/\s+/g, " ");
  expect(examined).toContain("the disk is mounted read-only: mount it so that it can be written");
  expect(examined).not.toContain("chmod");
  const path = join(machine.folder, "small", "server.db");
  const served = await machine.run(["server", "--database-url", `sqlite:${path}`]);
  expect([served.status, served.stderr]).toEqual([1, expect.stringContaining(path)]);
});

scenario("`emulator --json` and `server --json` say in JSON where they are", async (lab) => {
  const machine = await makeMachine(lab);
  const emulated = machine.spawn(["emulator", "--port", "0", "--json"]);
  await emulated.untilPrinted(/\n\}\n/);
  const { MEMSYNC_URL, MEMSYNC_TOKEN } = JSON.parse(emulated.stdout);
  const headers = { authorization: `Bearer ${MEMSYNC_TOKEN}` };
  expect((await fetch(`${MEMSYNC_URL}/v1/projects`, { headers })).status).toBe(200);
  await emulated.end("SIGTERM");
  const server = machine.spawn(["server", "--port", "0", "--json"]);
  await server.untilPrinted(/\n\}\n/);
  const { url, ...rest } = JSON.parse(server.stdout);
  expect((await fetch(`${url}/v1/projects`)).status).toBe(401);
  expect(rest).toEqual({
    database: join(machine.folder, "memsync-server.db"),
    has_accounts: false,
  });
  await server.end("SIGTERM");
});

scenario("a token that would be expired when it is made is refused", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  await machine.memsync("server", "account", "create", "acme");
  const create = ["server", "token", "create", "--account", "acme"];
  const past = await machine.run([...create, "--expires", "2020-01-01T00:00:00Z"]);
  expect([past.status, past.stdout]).toEqual([2, ""]);
  expect(past.stderr).toContain("--expires 2020-01-01T00:00:00Z is in the past");
  expect(await machine.memsync("server", "token", "list")).toContain("no tokens");
  await machine.memsync(...create, "--expires", "2999-01-01T00:00:00Z");
  const day = await machine.run([...create, "--expires", "2998-12-31", "--json"]);
  expect(day.stderr).toBe(
    "memsync: the token expires at the end of 2998-12-31, 2999-01-01T00:00:00.000Z\n",
  );
  const none = await machine.run([...create, "--expires", "2030-02-30"]);
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining("a day such as")]);
});

scenario("a server's commands make a database for the first account alone", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  const database = lab.git.path("memsync-server.db");
  for (const words of [
    "account list",
    "token list",
    "token revoke x",
    "token create --account a",
  ]) {
    await expectRefusal(
      machine,
      ["server", ...words.split(" ")],
      /there is no database at \S+\.db/,
    );
    expect(existsSync(database)).toBe(false);
  }
  const nowhere = ["--database-url", "sqlite:nowhere/server.db"];
  await expectRefusal(machine, ["server", ...nowhere], /no folder \S+nowhere for the database/);
  const far = await machine.run(["server", "--database-url", "postgres://a@127.0.0.1:99999/b"]);
  expect(far.stderr).toContain("is no address, as by a port over 65535");
  const create = ["server", "account", "create"];
  await expectRefusal(machine, [...create, "a", ...nowhere], /no folder \S+nowhere for the/);
  await expectRefusal(
    machine,
    [...create, "x".repeat(201)],
    /the name of an account is 1 to 200 bytes/,
  );
  await expectRefusal(machine, [...create, "a\nb"], /without control characters/);
  expect(await machine.memsync("server", "account", "list")).toContain("no accounts");
  await machine.memsync(...create, "a");
  expect(await machine.memsync("server", "token", "list")).toContain("no tokens");
});

scenario("a service is configured whole or not at all", async (lab) => {
  const machine = await makeMachine(lab);
  const { url } = emulator.account("half");
  machine.service = { url, token: "" };
  await expectRefusal(machine, ["up"], /MEMSYNC_URL is set without MEMSYNC_TOKEN/);
  machine.service = { url: `${url}/v1`, token: "mst_dev_half" };
  await expectRefusal(machine, ["up"], /MEMSYNC_URL ends in \/v1 or \/api: leave that out/);
  machine.service = { url: "nonsense", token: "mst_dev_half" };
  await expectRefusal(machine, ["up"], /MEMSYNC_URL is not an http or https address/);
});

scenario("a token without an address is said to be of no use", async (lab) => {
  const machine = await makeMachine(lab);
  const env = { MEMSYNC_TOKEN: "mst_dev_alone" };
  const started = await machine.run(["start"], { env });
  expect([started.status, started.stderr]).toEqual([
    0,
    expect.stringContaining("MEMSYNC_TOKEN is set without MEMSYNC_URL"),
  ]);
  const examined = await machine.run(["doctor"], { env });
  expect([examined.status, examined.stdout]).toEqual([
    0,
    expect.stringMatching(/^warning +token +MEMSYNC_TOKEN is set without MEMSYNC_URL.*\n +set /m),
  ]);
  expect((await machine.run(["status"])).stderr).toBe("");
});

scenario("a write into a project that is linked nowhere says that nothing is sent", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  const [project] = (await machine.status()).projects;
  const set = (id = "") => machine.run(["set", "key", "value", "--project", id]);
  expect(await set(project?.id)).toMatchObject({ status: 0, stderr: "" });
  expect((await set("proj_mistyped")).status).toBe(1);
  await machine.memsync("unlink");
  const unlinked = await set(project?.id);
  expect([unlinked.status, unlinked.stdout]).toEqual([0, ""]);
  expect(unlinked.stderr).toContain(`${project?.id} is linked to no folder here`);
  await machine.down();
  expect((await set("proj_mistyped")).status).toBe(1);
  expect((await set(project?.id)).stderr).toContain("is linked to no folder here");
});

scenario("a mistyped folder is not taken for the project around it", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  const nowhere = /there is no folder \S+nowhere, and nowhere is no project's id/;
  await expectRefusal(machine, ["set", "k", "v", "--project", "nowhere"], nowhere);
  await expectRefusal(machine, ["doc", "--project", "nowhere"], nowhere);
  await expectRefusal(machine, ["connect", ".", "nowhere"], nowhere);
  await machine.memsync("set", "k", "v");
  await machine.down();
  // One that is linked may be on a disk that is not there at the moment.
  const folder = machine.folder;
  await rename(folder, `${folder}-away`);
  const away = await machine.run(["get", "k", "--project", `${folder}/docs`], {
    cwd: lab.git.folder,
  });
  await rename(`${folder}-away`, folder);
  expect(away).toMatchObject({ status: 0, stdout: "v" });
});

scenario("a project goes by its name where no folder and no other project has it", async (lab) => {
  const machine = await makeMachine(lab);
  const [shop = "", mine = "", theirs = ""] = ["shop", "mine/widget", "theirs/widget"].map((each) =>
    lab.git.path(each),
  );
  for (const folder of [shop, mine, theirs]) await mkdir(folder, { recursive: true });
  await machine.up(shop, mine, theirs);
  const { projects } = await machine.status();
  const idsOf = (wanted: string) => projects.flatMap(({ id, name }) => (name === wanted ? id : []));
  const [id = ""] = idsOf("shop");
  for (const up of [true, false]) {
    if (!up) await machine.down();
    await machine.memsync("set", "build", `by its name, ${up}`, "--project", "shop");
    expect(await machine.memsync("get", "build", "--project", id)).toBe(`by its name, ${up}`);
    const both = await machine.run(["set", "build", "whose?", "--project", "widget"]);
    expect([both.status, both.stdout]).toEqual([1, ""]);
    for (const each of idsOf("widget")) expect(both.stderr).toContain(each);
    await expectRefusal(machine, ["list", "--project", "shopp"], /did you mean "shop"/);
  }
  // A folder is meant before a name, be it linked or not.
  await mkdir(join(machine.folder, "shop"));
  await expectRefusal(machine, ["get", "build", "--project", "./shop"], /is not linked|no memory/);
});

scenario("what is added is a text, also where it was to be piped in", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  for (const up of [true, false]) {
    if (!up) await machine.down();
    for (const text of ["", "-"]) {
      const { status, stdout, stderr } = await machine.run(["add", text], { stdin: "" });
      expect([status, stdout, stderr]).toEqual([
        1,
        "",
        "memsync: the text is empty: nothing was saved\n",
      ]);
    }
    const blank = await machine.run(["add", " \n\t"]);
    expect([blank.status, blank.stdout, blank.stderr.replace(/\s+/g, " ").trim()]).toEqual([
      1,
      "",
      "memsync: the text is nothing but spaces and line breaks: nothing was saved",
    ]);
    expect(await machine.list()).toEqual([]);
  }
});

scenario("the embedded service is no remote to be removed", async (lab) => {
  const machine = await makeMachine(lab);
  await expectRefusal(machine, ["remote", "rm", "embedded"], /part of the home/);
});

scenario("a folder that is not there can't be followed", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.up();
  await expectRefusal(machine, ["link", "nowhere"], /nowhere is not a folder/);
  await expectRefusal(machine, ["up", "nowhere"], /nowhere is not a folder/);
  await expectRefusal(machine, ["unlink", lab.git.folder], /is not linked/);
});

scenario("what the interface would refuse is refused, with and without a daemon", async (lab) => {
  const machine = await makeMachine(lab);
  const setting = async (key: string, value: string, sentence: RegExp) => {
    const { status, stderr } = await machine.run(["set", key, "-"], { stdin: value });
    expect(status).toBe(1);
    expect(stderr).toMatch(sentence);
  };
  const all = async () => {
    await setting("key", "x".repeat(32 * 1024 + 1), /32768|32 KiB/);
    await setting("k".repeat(513), "value", /512/);
    await setting("key", "a\0b", /NUL/);
    const bytes = new Uint8Array([0x61, 0xff]);
    const notText = await machine.run(["set", "key", "-"], { stdin: bytes });
    expect([notText.status, notText.stderr]).toEqual([
      1,
      "memsync: standard input is not UTF-8; nothing was saved\n",
    ]);
  };
  await machine.up();
  await all();
  await machine.down();
  await all();
  expect(await machine.list()).toEqual([]);
});

scenario("a token that the service does not know is said, and nothing is lost", async (lab) => {
  const machine = await makeMachine(lab);
  const right = emulator.account("right");
  machine.service = { ...right, token: "mst_wrong" };
  await machine.up();
  await machine.memsync("set", "key", "value");
  await waitFor("the status to say so", async () =>
    (await machine.memsync("status")).includes("401"),
  );
  expect((await machine.run(["sync", "--wait", "0"])).status).toBe(1);
  expect(await machine.memsync("get", "key")).toBe("value");
  await machine.down();
  machine.service = right;
  await machine.up();
  await machine.sync();
  expect(await machine.memsync("get", "key")).toBe("value");
});

scenario("a mistyped command or key is answered with the one that was meant", async (lab) => {
  const machine = await makeMachine(lab);
  const { status, stderr } = await machine.run(["statsu"]);
  expect([status, stderr]).toEqual([
    2,
    'memsync: unknown command \'statsu\': did you mean "status" or "stats"?\n',
  ]);
  for (const args of [
    ["conflicts", "shwo", "x"],
    ["server", "tokn", "list"],
    ["help", "lst"],
  ]) {
    const mistyped = await machine.run(args);
    expect([args, mistyped.status, mistyped.stderr]).toEqual([
      args,
      2,
      expect.stringMatching(
        /^memsync: unknown command '\w+': did you mean "(show|token|list)"\?\n$/,
      ),
    ]);
  }
  for (const [args, said] of [
    [["server", "account", "X"], "'X': `memsync server account` has create, list, plan, rm"],
    [["server", "account", "delete", "x"], "'delete': did you mean \"rm\"?"],
    [["server", "account", "add", "x"], "'add': did you mean \"create\"?"],
    [["remote", "remove", "x"], "'remove': did you mean \"rm\"?"],
    [["conflicts", "nonsense"], "'nonsense': `memsync conflicts` has "],
  ] as const) {
    const mistyped = await machine.run(args);
    expect([mistyped.status, mistyped.stderr]).toEqual([
      2,
      expect.stringContaining(`memsync: unknown command ${said}`),
    ]);
  }
  const own = ["--layer", "user"];
  await machine.memsync("set", "build", "x", ...own);
  await expectRefusal(machine, ["get", "buidl", ...own], /"buidl": did you mean "build"\?/);
  await expectRefusal(machine, ["rm", "buidl", ...own], /did you mean "build"\?/);
  await expectRefusal(machine, ["get", "elsewhere", ...own], /no memory "elsewhere"\n$/);
});
