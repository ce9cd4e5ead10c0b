import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { RUNTIME_ENVIRONMENT } from "../../daemon/supervise/runtime-environment.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import { type Machine, MEMSYNC } from "../support/machine.ts";
import type { Need } from "../support/needs.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** Where the system shows what a process has. */
const PROC: Need = { isMet: existsSync("/proc/self/stat"), missing: "there is no /proc" };

async function makeMachine(lab: Lab, account?: string): Promise<Machine> {
  const folder = await lab.git.repository("a", { "README.md": "" });
  return lab.machine("a", folder, account === undefined ? undefined : emulator.account(account));
}

/** The pid that the daemon answers. */
async function pidOf(machine: Machine): Promise<number> {
  return ((await machine.ask("GET", "/_memsync/daemon")) as { pid: number }).pid;
}

/** One that has ended may be listed until somebody asks how. */
function isProcess(pid: number): boolean {
  const { stdout } = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]);
  return /^[^Z\s]/.test(stdout.toString().trim());
}

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
}

scenario("`start` returns when the daemon answers; `stop` when it has ended", async (lab) => {
  const machine = await makeMachine(lab, "start");
  const said = await machine.memsync("start");
  expect(said).toContain("memsync runs in the background");
  // What `followed` means is said where anything is.
  expect(said).not.toContain("followed: the first of");
  const pid = await pidOf(machine);
  expect((await machine.status()).projects).toEqual([]);
  await machine.memsync("start", machine.folder);
  expect(await pidOf(machine)).toBe(pid);
  await machine.memsync("set", "key", "value");
  expect(await machine.memsync("stop")).toBe("memsync has ended\n");
  expect(isProcess(pid)).toBe(false);
  expect(existsSync(join(machine.home, "daemon.sock"))).toBe(false);
  await machine.memsync("start");
  expect(await machine.memsync("get", "key")).toBe("value");
  expect((await machine.projectOf()).memories).toBe(1);
});

scenario(
  "a daemon in the background has nothing of the command that started it",
  async (lab) => {
    const machine = await makeMachine(lab, "apart");
    await lab.git.write(lab.git.path("nine"), "");
    const quoted = [...MEMSYNC, "start"].map((word) => `'${word}'`).join(" ");
    const shell = ["sh", "-c", `exec 9<'${lab.git.path("nine")}'; exec ${quoted}`];
    expect((await machine.spawnOther(shell).ended()).status).toBe(0);
    const pid = await pidOf(machine);
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const told = Object.entries(RUNTIME_ENVIRONMENT).map((each) => each.join("="));
    expect(environment).toEqual(expect.arrayContaining(told));
    const [, , session] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) . /, "")
      .split(" ");
    expect(Number(session)).toBe(pid);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe("/");
    const open = descriptorsOf(pid);
    expect(open).not.toContain(lab.git.path("nine"));
    const standard = [0, 1, 2].map((each) => readlinkSync(`/proc/${pid}/fd/${each}`));
    const log = join(machine.home, "daemon.log");
    expect(standard).toEqual(["/dev/null", log, log]);
    expect(open.filter((path) => path.startsWith("pipe:"))).toEqual([]);
    expect(statSync(log).mode & 0o777).toBe(0o600);
  },
  { needs: PROC },
);

scenario("whoever stands in a clone that is not followed is told so", async (lab) => {
  const [folder, clone] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("a", folder);
  const so = (command: string) =>
    new RegExp(
      `^here {6}\\S+ {3}not followed, though origin is in \\S+: \`${command}\` follows`,
      "m",
    );
  const unfollowed = so("memsync link");
  expect(await machine.memsync("start", folder)).not.toMatch(unfollowed);
  const there = { cwd: clone };
  for (const command of ["start", "status", "restart"]) {
    expect(await machine.memsyncWith(there, command)).toMatch(unfollowed);
  }
  await machine.memsync("stop");
  // Without a daemon `memsync link` would only say that there is none.
  expect((await machine.run(["status"], there)).stdout).toMatch(so("memsync start \\."));
  await machine.memsyncWith(there, "start", ".");
  const shown = await machine.memsyncWith(there, "status");
  expect(shown).toMatch(new RegExp(`^here .*\n +\\S*/${clone.split("/").at(-1)}/CLAUDE`));
  expect(shown).not.toMatch(unfollowed);
  await machine.memsync("stop");
});

scenario("a daemon that begins says which folders it has not looked at", async (lab) => {
  const machine = await makeMachine(lab);
  const { git } = lab;
  const [bin, gate] = [git.path("bin"), git.path("gate")];
  mkdirSync(bin);
  execFileSync("mkfifo", [gate]);
  // Whatever the daemon asks git waits at the gate.
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh\nread -r _ < '${gate}'\nexec '${Bun.which("git")}' "$@"\n`,
  );
  chmodSync(join(bin, "git"), 0o755);
  const other = await git.repository("b", { "CLAUDE.md": "# B\n" });
  await machine.memsync("start", machine.folder, other);
  await machine.memsync("stop");
  const PATH = `${bin}:${git.env.PATH}`;
  const starting = machine.spawn(["start", "--json"], { env: { PATH } });
  const whys = ({ projects }: Awaited<ReturnType<Machine["status"]>>) =>
    projects.flatMap(({ folders }) => folders.map(({ why }) => why));
  // As long as no daemon answers, the command shows what the home knows.
  await waitFor("both", async () => {
    const said = whys(await machine.status());
    return said.length === 2 && said.every((why) => why === "not-looked-at");
  });
  const opened = openSync(gate, "r+");
  writeSync(opened, "\n".repeat(1000));
  const { status, stdout } = await starting.ended();
  closeSync(opened);
  expect([status, whys(JSON.parse(stdout)).length]).toEqual([0, 2]);
  expect(whys(JSON.parse(stdout))).not.toContain("not-looked-at");
  await machine.memsync("stop");
});

scenario("`start` tells a shell that names another service than was meant", async (lab) => {
  const machine = await makeMachine(lab, "forgot");
  const { url = "" } = machine.service ?? {};
  expect((await machine.run(["start", machine.folder])).stderr).toBe("");
  await machine.sync();
  const service = machine.service;
  machine.service = undefined;
  // One that runs already goes on with the service that it was started with.
  const running = await machine.run(["start"]);
  expect([running.status, running.stderr]).toEqual([
    0,
    expect.stringContaining(`running with MEMSYNC_URL ${url}, which is unset here`),
  ]);
  await machine.memsync("stop");
  const forgot = await machine.run(["start"]);
  expect([forgot.status, forgot.stderr]).toEqual([
    0,
    expect.stringContaining(
      `MEMSYNC_URL is unset here, and this home was synced with ${url} until now`,
    ),
  ]);
  await machine.memsync("stop");
  machine.service = service;
  expect((await machine.run(["start"])).stderr).toBe("");
});

scenario("a shell with another token than the daemon's is told at each command", async (lab) => {
  const machine = await makeMachine(lab, "ann");
  await machine.up();
  const { url = "" } = machine.service ?? {};
  const saved = (env: Record<string, string>) => machine.run(["set", "key", "value"], { env });
  expect((await saved({})).stderr).toBe("");
  const bob = await saved({ MEMSYNC_TOKEN: "mst_dev_bob" });
  expect([bob.status, bob.stderr.replaceAll(/\s+/g, " ")]).toEqual([
    0,
    expect.stringContaining("MEMSYNC_TOKEN is another token here than the running daemon's"),
  ]);
  const slash = await saved({ MEMSYNC_URL: `${url}/` });
  expect(slash.stderr).toBe("");
  const elsewhere = await saved({ MEMSYNC_URL: "http://127.0.0.1:9" });
  expect(elsewhere.stderr).toContain("MEMSYNC_URL is another here");
  const asked = await machine.run(["doctor", "--json"], { env: { MEMSYNC_TOKEN: "mst_dev_bob" } });
  expect(asked.stdout).toContain('"daemon-another-token"');
  expect(bob.stderr + asked.stdout).not.toContain("mst_dev_bob");
});

scenario("several `start` at the same instant are one daemon, and all are done", async (lab) => {
  const machine = await makeMachine(lab, "at-once");
  const commands = Array.from({ length: 4 }, () => machine.spawn(["start", "--json"]));
  const ended = await Promise.all(commands.map((each) => each.ended()));
  expect(ended.map(({ status, stderr }) => [status, stderr])).toEqual(ended.map(() => [0, ""]));
  const gateways = ended.map(({ stdout }) => JSON.parse(stdout).gateway.url);
  expect(new Set(gateways)).toEqual(new Set([(await machine.status()).gateway.url]));
  const log = await machine.memsync("logs");
  expect(log.match(/the daemon is up/g)).toHaveLength(1);
});

scenario("`start` beside `up` at the same instant is one daemon", async (lab) => {
  const machine = await makeMachine(lab, "beside");
  const up = machine.begin();
  const start = await machine.run(["start"]);
  expect([start.status, start.stderr]).toEqual([0, ""]);
  const pid = await pidOf(machine);
  await waitFor("`up` to have found it or to be it", () => /memsync is /.test(up.stdout));
  expect(await pidOf(machine)).toBe(pid);
  await machine.memsync("stop");
});

scenario("a daemon that dies while it starts is a failure that says why", async (lab) => {
  const machine = await makeMachine(lab, "dies");
  machine.service = { url: emulator.account("dies").url, token: "" };
  const { status, stdout, stderr } = await machine.run(["start"]);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toBe(
    "memsync: the daemon did not start: MEMSYNC_URL is set without MEMSYNC_TOKEN: " +
      "set the service's token, or `memsync login`\n",
  );
  expect((await machine.run(["start", "nowhere"])).stderr).toContain("nowhere is not a folder");
  expect(machine.holder()).toBeUndefined();
});

scenario("a home of a newer version is refused and not touched", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.memsync("start", machine.folder);
  await machine.memsync("set", "key", "value");
  await machine.memsync("stop");
  const path = join(machine.home, "memsync.db");
  const database = new Database(path);
  database.run("INSERT INTO schema_migrations (name) VALUES ('daemon-9999-future')");
  database.close();
  const bytes = () =>
    ["memsync.db", "service.db"].map((name) => Bun.hash(readFileSync(join(machine.home, name))));
  const before = bytes();
  for (const command of ["start", "up", "restart"]) {
    const { status, stderr } = await machine.run([command]);
    expect([command, status]).toEqual([command, 1]);
    expect(stderr).toMatch(/^memsync: .*written by a newer memsync .*update memsync[^\n]*\n$/);
    expect(bytes()).toEqual(before);
  }
});

scenario("a daemon that no longer answers is replaced, and nothing saved is lost", async (lab) => {
  const machine = await makeMachine(lab, "silent");
  await machine.memsync("start", machine.folder);
  await machine.memsync("set", "key", "value");
  for (const command of ["start", "restart"]) {
    const pid = await pidOf(machine);
    process.kill(pid, "SIGSTOP");
    await machine.memsync(command);
    expect(await pidOf(machine)).not.toBe(pid);
    expect(isProcess(pid)).toBe(false);
    expect(await machine.memsync("get", "key")).toBe("value");
  }
  process.kill(await pidOf(machine), "SIGSTOP");
  expect(await machine.memsync("stop")).toContain("did not answer and was killed");
  expect(machine.holder()).toBeUndefined();
});

scenario("a daemon at somebody's terminal that is stopped there is left alone", async (lab) => {
  const machine = await makeMachine(lab, "terminal");
  await machine.up();
  const pid = await pidOf(machine);
  process.kill(pid, "SIGSTOP");
  const { status, stderr } = await machine.run(["start"]);
  process.kill(pid, "SIGCONT");
  expect(status).toBe(1);
  expect(stderr).toContain(`another memsync process (process ${pid}) holds`);
  await machine.memsync("set", "key", "value");
  expect(await pidOf(machine)).toBe(pid);
  expect((await machine.run(["restart"])).stderr).toContain("runs in the foreground");
});

scenario("`start` takes over from a daemon that was killed", async (lab) => {
  const machine = await makeMachine(lab, "killed");
  await machine.memsync("start", machine.folder);
  process.kill(await pidOf(machine), "SIGKILL");
  await waitFor("its end", () => machine.holder() === undefined);
  expect((await machine.run(["status"])).stderr).toContain("start it with `memsync start`");
  await machine.memsync("set", "between", "daemons");
  await machine.memsync("start");
  // It answers before it has looked at its folders.
  const found = await waitFor("its folder", () => machine.projectOf().catch(() => undefined));
  expect(found.memories).toBe(1);
});

scenario("a daemon whose socket is gone starts itself again", async (lab) => {
  const machine = await makeMachine(lab, "socket");
  const told = ["daemon", "--started", "background", "--check-seconds", "0.05"];
  const first = machine.spawn(told);
  const pid = await waitFor("the daemon", () => pidOf(machine));
  rmSync(join(machine.home, "daemon.sock"));
  expect((await first.ended()).status).toBe(0);
  const next = await waitFor("the next one", () => pidOf(machine));
  expect(next).not.toBe(pid);
  expect(await machine.memsync("logs")).toContain("its socket did not answer");
  await machine.memsync("stop");
});

scenario("`restart` is the same daemon again, or none", async (lab) => {
  const machine = await makeMachine(lab, "restart");
  await machine.memsync("restart");
  const pid = await pidOf(machine);
  await machine.memsync("link");
  await machine.memsync("restart");
  expect(await pidOf(machine)).not.toBe(pid);
  expect((await machine.status()).projects).toHaveLength(1);
  const { service } = machine;
  machine.service = undefined;
  const other = await machine.run(["restart"]);
  expect(other.status).toBe(1);
  expect(other.stderr).toContain(`the daemon was started with MEMSYNC_URL ${service?.url}`);
  expect((await machine.status()).service.name).toBe(service?.url ?? "");
});

scenario("no token is in a process list, in the log or told by the daemon", async (lab) => {
  const machine = await makeMachine(lab, "no-token");
  const token = machine.service?.token ?? "";
  await machine.memsync("start", machine.folder);
  await machine.memsync("set", "key", "PLANTED value");
  await machine.memsync("sync");
  const pid = await pidOf(machine);
  const ps = await machine.spawnOther(["ps", "-o", "args=", "-p", String(pid)]).ended();
  expect(ps.stdout).toContain("daemon --started background");
  const told = JSON.stringify(await machine.ask("GET", "/_memsync/daemon"));
  const log = await machine.memsync("logs", "--json");
  for (const text of [ps.stdout, told, log]) {
    expect(text).not.toContain(token);
    expect(text).not.toContain("PLANTED");
  }
});
