import { expect } from "bun:test";
import { EmulatorProcess } from "../support/emulator-process.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";

const emulator = sharedEmulator();

interface PrintedReport {
  readonly holds: number;
  readonly fails: number;
  readonly skipped: number;
  readonly rules: readonly {
    readonly endpoint: string;
    readonly rule: string;
    readonly result: string;
    readonly reason?: string;
  }[];
}

async function machineIn(lab: Lab): Promise<Machine> {
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md\n" });
  return lab.machine("a", folder, emulator.account("conformance"));
}

/** Runs the suite against the gateway of a machine whose daemon is up. */
async function conformanceOfGateway(machine: Machine) {
  const env = JSON.parse(await machine.memsync("env", "--json")) as Record<string, string>;
  const { MEMSYNC_GATEWAY_URL: url = "", MEMSYNC_GATEWAY_TOKEN: token = "" } = env;
  const ended = await machine.run(["conformance", "--url", url, "--token", token, "--json"]);
  return { ...ended, report: JSON.parse(ended.stdout) as PrintedReport, token };
}

scenario("`conformance` prints a table and ends with 0 where all rules hold", async (lab) => {
  const machine = await machineIn(lab);
  const { url, token } = emulator.account("table");
  const { status, stdout, stderr } = await machine.run([
    ...["conformance", "--url", `${url}/`, "--token", token],
    ...["--other-token", "mst_dev_table_other"],
  ]);
  expect([status, stderr]).toEqual([0, ""]);
  const [first = ""] = stdout.split("\n");
  expect(first).toMatch(/^holds +GET \/v1\/memories +401 without a token$/);
  expect(stdout).toMatch(/^\d+ rules hold, 0 fail, \d+ left open .*; \d+ requests$/m);
  expect(stdout).toMatch(/^open .*: query parameters are not shown$/m);
  expect(stdout).toMatch(/^skipped .*: --read-only-token was not given$/m);
  expect(stdout).toMatch(/^left behind: proj_conformance_\w+, proj_conformance_\w+$/m);
  // Nothing of a terminal where there is none.
  expect(stdout).not.toContain("\u001b");
});

scenario("`conformance` takes address and token from the environment", async (lab) => {
  const machine = await machineIn(lab);
  const report = JSON.parse(await machine.memsync("conformance", "--json")) as PrintedReport;
  expect(report).toMatchObject({ fails: 0, ended_early: null });
});

scenario("`conformance` says what was sent, expected and got, and never the token", async (lab) => {
  const machine = await machineIn(lab);
  const { url, token } = emulator.account("readonly");
  const { status, stdout, stderr } = await machine.run([
    ...["conformance", "--url", url, "--token", token],
  ]);
  expect([status, stderr]).toEqual([1, "memsync: the server does not keep to the interface\n"]);
  expect(stdout).toMatch(/^FAILS +creates a project$/m);
  expect(stdout).toContain(
    "POST /api/projects: creates a project\n  sent      POST /api/projects {",
  );
  expect(stdout).toContain(
    "\n  expected  status 200 or 201 or 204\n  got       403 application/json",
  );
  expect(stdout + stderr).not.toContain(token);
});

scenario("`conformance` of what is not there, or not for this token, ends with 1", async (lab) => {
  const machine = await machineIn(lab);
  const gone = ["conformance", "--url", "http://127.0.0.1:1", "--token", "token"];
  const unreachable = await machine.run(gone);
  expect(unreachable.status).toBe(1);
  expect(unreachable.stderr).toMatch(/^memsync: http:\/\/127\.0\.0\.1:1 can't be reached for GET /);
  const { url } = emulator.account("any");
  const refused = await machine.run(["conformance", "--url", url, "--token", "nobody"]);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toStartWith("memsync: the server answers 401 to --token");
});

scenario("`conformance` that is used wrongly ends with 2", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder);
  for (const args of [
    [],
    ["--url", "http://127.0.0.1:1"],
    ["--token", "token"],
    ["--url", "127.0.0.1:1", "--token", "token"],
    ["--url", "http://127.0.0.1:1/v1", "--token", "token"],
    ["--url", "http://127.0.0.1:1", "--token", "two words"],
    ["--url", "http://127.0.0.1:1", "--token", "token", "more"],
  ]) {
    const { status, stdout, stderr } = await machine.run(["conformance", ...args]);
    expect([args, status, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toMatch(/^memsync: /);
  }
});

scenario("a gateway keeps to the interface, but for what only its service does", async (lab) => {
  const machine = await machineIn(lab);
  await machine.up();
  const { status, stderr, report, token, stdout } = await conformanceOfGateway(machine);
  expect([status, stderr]).toEqual([0, ""]);
  expect(report.rules.filter(({ result }) => result === "fails")).toEqual([]);
  const left = report.rules.filter(({ result, reason }) => {
    return result === "skipped" && !reason?.endsWith("was not given");
  });
  expect(left).toEqual(
    ["connects two projects", "may be repeated"].map((rule) => ({
      endpoint: "POST /api/projects/connect",
      rule,
      result: "skipped",
      reason: "a gateway passes connections on, and its service lacks these projects",
    })),
  );
  expect(stdout).not.toContain(token);
});

scenario("a gateway keeps to the interface while its service is away", async (lab) => {
  const service = await lab.emulator();
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md\n" });
  const machine = lab.machine("a", folder, service.account("away"));
  await machine.up();
  await service.end("SIGKILL");
  const { status, report } = await conformanceOfGateway(machine);
  expect(report.rules.filter(({ result }) => result === "fails")).toEqual([]);
  expect(status).toBe(0);
  const reasons = report.rules.map(({ reason }) => reason);
  expect(reasons).toContain(
    "a gateway passes connections on to its service, which can't be reached",
  );
});

scenario("`--published-only` is a way to run the emulator and the server", async (lab) => {
  const { env, folder } = lab.git;
  const options = { env, cwd: folder, args: ["--published-only"] };
  const published = await EmulatorProcess.start(options);
  try {
    const machine = await machineIn(lab);
    const { url, token } = published.account("published");
    await machine.memsync("conformance", "--url", url, "--token", token);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/healthz`, { headers })).status).toBe(404);
    const server = machine.spawn(["server", "--published-only", "--port", "0"]);
    const address = await server.untilPrinted(/memsync server ready at (\S+)/);
    await machine.memsync("server", "account", "create", "acme", "--plan", "team");
    const made = await machine.memsync("server", "token", "create", "--account", "acme");
    await machine.memsync("conformance", "--url", address, "--token", made.trim());
    expect((await fetch(`${address}/healthz`)).status).toBe(401);
    expect((await server.end("SIGTERM")).status).toBe(0);
  } finally {
    await published.end();
  }
});
