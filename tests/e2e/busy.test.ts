import { expect } from "bun:test";
import { control, controlled } from "../support/emulator-calls.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { TERMINALS } from "../support/needs.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const PAUSE_S = 300;

/** From now on each of the account's requests is answered so. */
async function makeBusy({ url, token }: ServiceConfig, status: 429 | 503): Promise<void> {
  const body = { token, status, retry_after: PAUSE_S, times: 10_000 };
  await controlled({ url }, "POST faults", body);
}

async function machineOf(lab: Lab, account: ServiceConfig): Promise<Machine> {
  return lab.machine("a", await lab.git.repository("a", { "CLAUDE.md": "# A\n" }), account);
}

async function untilBusy(machine: Machine): Promise<void> {
  await waitFor("the pause", async () => (await machine.status()).service.state === "busy");
}

for (const status of [429, 503] as const) {
  scenario(
    `a service that answers ${status} is busy, and everything says until when`,
    async (lab) => {
      const account = emulator.account(`busy-${status}`);
      await makeBusy(account, status);
      const machine = await machineOf(lab, account);
      await machine.up();
      await untilBusy(machine);
      const { service } = await machine.status();
      const leftMs = Date.parse(service.busy_until ?? "") - Date.now();
      expect(leftMs).toBeGreaterThan((PAUSE_S - 60) * 1000);
      expect([service.online, service.message]).toEqual([
        false,
        expect.stringContaining(`${status}`),
      ]);
      const again = /busy: it answered \d+: .*; asked again in [345] min \d+ s; what is saved/;
      expect(await machine.memsync("status")).toMatch(again);
      expect(await machine.memsync("up")).toMatch(again);
      const asked = Date.now();
      const { status: ended, stderr } = await machine.run(["sync"]);
      expect([ended, stderr]).toEqual([
        1,
        expect.stringMatching(/^memsync: busy: .* is busy \(it/),
      ]);
      expect(stderr).toMatch(/asked again in [345] min/);
      // Waiting would have brought nothing.
      expect(Date.now() - asked).toBeLessThan(20_000);
      const logged = new RegExp(
        `busy +http\\S+ +asked again at \\d\\d:\\d\\d:\\d\\d: it answered ${status}: `,
      );
      expect(await machine.memsync("logs")).toMatch(logged);
      const doctor = await machine.run(["doctor"]);
      expect(doctor.stdout).toMatch(/service +http\S+ is busy: it answers \d+/);
      expect(doctor.stdout).toMatch(/wait 5 min 0 s: it takes no calls now/);
      for (const said of [await machine.memsync("status"), stderr, doctor.stdout]) {
        expect(said).not.toMatch(/offline|not reached|has not answered/);
      }
    },
  );
}

const restarted = (status: 429 | 503) => async (lab: Lab) => {
  const account = emulator.account(`busy-restart-${status}`);
  await makeBusy(account, status);
  const machine = await machineOf(lab, account);
  await machine.up();
  await untilBusy(machine);
  await machine.down();
  await controlled(account, "POST reset", { scope: "requests", token: account.token });
  await machine.up();
  const { service } = await machine.status();
  expect(service.state).toBe("busy");
  const asked = /busy: the service asked for a pause; asked again in \d/;
  expect(await machine.memsync("status")).toMatch(asked);
  const journal = await control(account, `GET requests?token=${account.token}`, {});
  expect(((await journal.json()) as { requests: unknown[] }).requests).toEqual([]);
};
scenario("a daemon that starts within a pause knows of it (429)", restarted(429));
scenario("a daemon that starts within a pause knows of it (503)", restarted(503));

scenario(
  "`up` shows no bar while the service is busy",
  async (lab) => {
    const account = emulator.account("busy-up");
    await makeBusy(account, 503);
    const machine = await machineOf(lab, account);
    await using up = new TerminalSession(lab, machine, ["up"]);
    await up.untilOnScreen(/^memsync is up/);
    await up.untilOnScreen(/busy: it answered 503: [\s\S]*; asked again at \d\d:/);
    expect(up.written).not.toContain("syncing");
  },
  { needs: TERMINALS },
);
