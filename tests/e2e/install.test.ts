import { expect } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { homeOf } from "../../daemon/home/home.ts";
import { serviceName } from "../../daemon/supervise/service-definition.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { LINUX } from "../support/needs.ts";
import { openNotifySocket } from "../support/notify-socket.ts";
import { parseUnit } from "../support/parse-unit.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FAKE = join(import.meta.dir, "../support/fake-systemctl.ts");

/** Elsewhere the service manager is another one, which is not to be touched by a test. */

/** A machine whose home has a space in it, and whose service manager is a fake. */
interface Serviced {
  readonly machine: Machine;
  /** Where its unit is. */
  readonly unit: string;
  /** Words that its manager was asked with. */
  calls(): string;
  run(...args: readonly string[]): ReturnType<Machine["run"]>;
}

async function serviced(lab: Lab, account?: string): Promise<Serviced> {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const service = account === undefined ? undefined : emulator.account(account);
  const machine = lab.machine("with space", folder, service);
  const bin = lab.git.path("bin");
  const program = join(bin, "systemctl");
  await lab.git.write(program, `#!/bin/sh\nexec '${process.execPath}' '${FAKE}' "$@"\n`);
  await chmod(program, 0o755);
  await lab.git.write(join(bin, "calls"), "");
  const env = { PATH: `${bin}:${lab.git.env.PATH}`, FAKE_SYSTEMD: bin };
  const name = serviceName(homeOf({ MEMSYNC_HOME: machine.home }));
  return {
    machine,
    unit: lab.git.path(".config", "systemd", "user", `${name}.service`),
    calls: () => readFileSync(join(bin, "calls"), "utf8"),
    run: (...args) => machine.run(args, { env }),
  };
}

async function introductionOf(machine: Machine) {
  return (await machine.ask("GET", "/_memsync/daemon")) as { pid: number; started: string };
}

function linux(name: string, body: (lab: Lab) => Promise<void>): void {
  scenario(name, body, { needs: LINUX });
}

linux("`install` starts the service, which the other commands then use", async (lab) => {
  const { machine, unit, calls, run } = await serviced(lab);
  expect((await run("start")).status).toBe(0);
  const installed = await run("install");
  expect([installed.status, installed.stderr]).toEqual([0, ""]);
  expect(installed.stdout).toStartWith(`wrote ${unit}\n`);
  const first = await introductionOf(machine);
  expect(first.started).toBe("service");
  expect(calls()).toContain(`daemon-reload\nenable --now ${unit.split("/").at(-1)}\n`);
  expect((await run("stop")).status).toBe(0);
  expect((await run("start", machine.folder)).status).toBe(0);
  const second = await introductionOf(machine);
  expect([second.started, (await machine.status()).projects.length]).toEqual(["service", 1]);
  expect((await run("restart")).status).toBe(0);
  const third = await introductionOf(machine);
  expect([third.started, third.pid === second.pid]).toEqual(["service", false]);
  expect((await run("stop")).status).toBe(0);
  expect((await run("uninstall")).stdout).toBe(`removed ${unit}\n`);
  expect(existsSync(unit)).toBe(false);
  expect((await run("uninstall")).stdout).toBe(`no service is installed at ${unit}\n`);
  expect((await run("start")).status).toBe(0);
  expect((await introductionOf(machine)).started).toBe("background");
});

linux("without a service manager the file is written, and what to do is said", async (lab) => {
  const { machine, unit, run } = await serviced(lab, "no-manager");
  await lab.git.write(lab.git.path("bin", "broken"), "");
  const installed = await run("install");
  expect(installed.status).toBe(1);
  expect(installed.stdout).toBe(
    `wrote ${unit}\n` +
      "not enabled; where there is a service manager, this does it:\n" +
      "  systemctl --user daemon-reload\n" +
      `  systemctl --user enable --now ${unit.split("/").at(-1)}\n` +
      "without one, have this run at each login:\n" +
      "  memsync start\n",
  );
  expect(installed.stderr).toContain(
    "memsync: the service could not be enabled (Failed to connect to bus: No medium found); " +
      "`memsync start` runs it until then\n",
  );
  expect(installed.stderr).toContain("`memsync login` keeps the token");
  const token = machine.service?.token ?? "";
  const text = readFileSync(unit, "utf8");
  expect(text).not.toContain(token);
  expect(parseUnit(text).environment).toMatchObject({
    MEMSYNC_HOME: machine.home,
    MEMSYNC_URL: machine.service?.url ?? "",
  });
  expect(statSync(unit).mode & 0o777).toBe(0o600);
  const asJson = await run("install", "--json");
  expect(asJson.status).toBe(1);
  const json = JSON.parse(asJson.stdout);
  expect(json).toMatchObject({ file: unit, enabled: false });
  const start = await run("start");
  expect([start.status, start.stderr]).toEqual([
    0,
    "memsync: the service did not start (Failed to connect to bus: No medium found); " +
      "the daemon runs without it, and `memsync uninstall` takes the service away\n",
  ]);
  expect((await introductionOf(machine)).started).toBe("background");
  expect((await run("uninstall")).status).toBe(0);
  expect(existsSync(unit)).toBe(false);
});

linux("an address with a password in it is refused, and nothing is written", async (lab) => {
  const { machine, unit, run } = await serviced(lab);
  machine.service = { url: "https://ann:secret@memory.example.com", token: "mst_x" };
  const { status, stdout, stderr } = await run("install");
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toStartWith("memsync: MEMSYNC_URL holds a user or a password");
  expect(stderr).not.toContain("secret");
  expect(existsSync(unit)).toBe(false);
});

scenario(
  "a daemon under systemd says when it is ready, that it lives and that it ends",
  async (lab) => {
    const folder = await lab.git.repository("a", { "README.md": "" });
    const machine = lab.machine("a", folder, emulator.account("notify"));
    const path = lab.git.path("notify");
    const manager = openNotifySocket(path);
    const told = ["daemon", "--started", "service", "--check-seconds", "0.05"];
    const daemon = machine.spawn(told, { env: { NOTIFY_SOCKET: path } });
    await waitFor("signs of life", () => manager.received().length > 3);
    expect(manager.received().slice(0, 3)).toEqual(["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
    const stop = machine.spawn(["stop"]);
    await waitFor("the last word", () => manager.received().at(-1) === "STOPPING=1");
    expect((await stop.ended()).status).toBe(0);
    expect((await daemon.ended()).status).toBe(0);
    manager.close();
  },
  { needs: LINUX },
);
