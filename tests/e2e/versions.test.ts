import { expect } from "bun:test";
import { type Introduction, introduce, PROTOCOL } from "../../daemon/supervise/introduction.ts";
import { VERSION } from "../../shared/version.ts";
import { startFakeDaemon } from "../support/fake-daemon.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";

const emulator = sharedEmulator();

/** A machine, and how a daemon of it in the background introduces itself. */
async function makeMachine(
  lab: Lab,
  account: string,
): Promise<{ machine: Machine; introduction: Introduction }> {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const service = emulator.account(account);
  const variables = { MEMSYNC_URL: service.url, MEMSYNC_TOKEN: service.token };
  const introduction = introduce("background", variables);
  return { machine: lab.machine("a", folder, service), introduction };
}

scenario("an older daemon in the background is replaced by whatever comes to it", async (lab) => {
  for (const [account, command] of [
    ["older-status", ["status"]],
    ["older-start", ["start"]],
    ["older-up", ["up"]],
    ["older-set", ["set", "key", "value", "--layer", "user"]],
  ] as const) {
    const { machine, introduction } = await makeMachine(lab, account);
    const home = lab.git.path(`home-${account}`);
    const env = { MEMSYNC_HOME: home };
    const fake = startFakeDaemon(home, { ...introduction, version: "0.0.9" });
    const { status, stderr } = await machine.run(command, { env });
    expect([command, status, stderr, fake.ended]).toEqual([command, 0, "", true]);
    const now = await machine.run(["status", "--json"], { env });
    expect(JSON.parse(now.stdout).version).toBe(VERSION);
    expect((await machine.run(["stop"], { env })).status).toBe(0);
  }
});

scenario("several commands that come to an older daemon replace it once", async (lab) => {
  const { machine, introduction } = await makeMachine(lab, "older-many");
  const fake = startFakeDaemon(machine.home, { ...introduction, protocol: PROTOCOL - 1 });
  const all = await Promise.all([1, 2, 3].map(() => machine.run(["status"])));
  expect(all.map(({ status, stderr }) => [status, stderr])).toEqual(all.map(() => [0, ""]));
  expect(fake.ended).toBe(true);
  expect((await machine.memsync("logs")).match(/the daemon is up/g)).toHaveLength(1);
});

scenario("an older daemon is left alone where nobody else would start it again", async (lab) => {
  const { machine, introduction } = await makeMachine(lab, "older-left");
  const older = { ...introduction, version: "0.0.9" };
  const elsewhere = { url: "http://elsewhere.example.com", has_token: true, gateway_port: null };
  const cases: readonly (readonly [Partial<Introduction> | undefined, string])[] = [
    [{ ...older, started: "foreground" }, "end it where it runs, and start it again"],
    [undefined, "end it where it runs, and start it again"],
    [
      { ...older, environment: elsewhere },
      "set MEMSYNC_URL, MEMSYNC_TOKEN and MEMSYNC_GATEWAY_PORT as when",
    ],
  ];
  for (const [each, sentence] of cases) {
    const fake = startFakeDaemon(machine.home, each);
    const { status, stderr } = await machine.run(["projects"]);
    expect(stderr).toStartWith("memsync: the running daemon is memsync 0.0.");
    expect(stderr).toContain(sentence);
    // The fake answers `status` with what is none.
    expect([status, fake.ended]).toEqual([1, false]);
    fake.end();
  }
});

scenario("a daemon that ends in the middle of a command is said to have", async (lab) => {
  const { machine, introduction } = await makeMachine(lab, "dies");
  startFakeDaemon(machine.home, introduction, "/_memsync/status");
  expect(await machine.run(["projects"])).toMatchObject({
    status: 1,
    stdout: "",
    stderr: "memsync: the daemon ended before it answered: `memsync logs` shows why\n",
  });
});

scenario("what keeps a daemon from being replaced is said, and a write is kept", async (lab) => {
  const { machine, introduction } = await makeMachine(lab, "older-broken");
  machine.service = { url: emulator.account("x").url, token: "" };
  const environment = { ...introduction.environment, has_token: false };
  const fake = startFakeDaemon(machine.home, { ...introduction, version: "0.0.9", environment });
  const set = await machine.run(["set", "key", "value", "--layer", "user"]);
  expect([set.status, fake.ended]).toEqual([0, true]);
  expect(set.stderr).toContain("could not be replaced: the daemon did not start");
  expect(await machine.memsync("get", "key", "--layer", "user")).toBe("value");
});

scenario(
  "a newer daemon that is spoken to in another way is a failure with advice",
  async (lab) => {
    const { machine, introduction } = await makeMachine(lab, "newer");
    const newer = { ...introduction, version: "9.0.0", protocol: PROTOCOL + 1 };
    const fake = startFakeDaemon(machine.home, newer);
    for (const command of ["status", "start", "sync", "link"]) {
      const { status, stdout, stderr } = await machine.run([command]);
      expect([command, status, stdout]).toEqual([command, 1, ""]);
      expect(stderr).toBe(
        `memsync: the running daemon is memsync 9.0.0, newer than this one, ${VERSION}: ` +
          "update this memsync, or end the daemon by `memsync stop`\n",
      );
    }
    expect(fake.ended).toBe(false);
    await machine.memsync("stop");
    expect(fake.ended).toBe(true);
  },
);

scenario("a newer daemon that is spoken to in the same way is used, and told of", async (lab) => {
  const { machine, introduction } = await makeMachine(lab, "newer-same");
  const fake = startFakeDaemon(machine.home, { ...introduction, version: "9.0.0" });
  const { stderr } = await machine.run(["unlink"]);
  expect(stderr).toStartWith("memsync: the running daemon is memsync 9.0.0, newer than this one");
  expect(fake.asked).toContain("/_memsync/unlink");
  fake.end();
});
