import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const emulator = sharedEmulator();

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

scenario("`logs` shows what the daemon logged, and with `--follow` what it logs", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const none = await machine.run(["logs"]);
  expect([none.status, none.stdout]).toEqual([0, ""]);
  expect(none.stderr).toContain("no daemon has run there");
  await machine.memsync("start");
  const up = await machine.memsync("logs");
  expect(up).toMatch(new RegExp(`^${TIME}  info   the daemon is up version=\\S+ started=\\w+\n$`));
  const follower = machine.spawn(["logs", "--follow", "--lines", "0"]);
  const asJson = machine.spawn(["logs", "-f", "--json"]);
  await asJson.untilPrinted(/the daemon is up/);
  await machine.memsync("stop");
  await follower.untilPrinted(/the daemon ends by="a command"\n/);
  expect(follower.stdout).not.toContain("the daemon is up");
  await asJson.untilPrinted(/the daemon ends/);
  for (const line of asJson.stdout.trim().split("\n")) expect(JSON.parse(line).msg).toBeString();
});

scenario("`logs` shows the last lines, of the files before as well, and crashes", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const line = (msg: string) => `${JSON.stringify({ level: 40, time: 0, msg, port: 1 })}\n`;
  await lab.git.write(join(machine.home, "daemon.log.2"), line("one") + line("two"));
  writeFileSync(join(machine.home, "daemon.log.1"), line("three"));
  writeFileSync(join(machine.home, "daemon.log"), `panic: \u001b[31mred\n${line("four")}`);
  const shown = async (...args: readonly string[]) =>
    (await machine.memsync("logs", ...args)).trim().split("\n");
  const warned = (msg: string) => `1970-01-01T00:00:00.000Z  warn   ${msg} port=1`;
  const crash = "panic: \\x1b[31mred";
  expect(await shown("-n", "4")).toEqual([warned("two"), warned("three"), crash, warned("four")]);
  expect(await shown()).toHaveLength(5);
  expect(await shown("-n", "1")).toEqual([warned("four")]);
  const json = (await shown("--json", "-n", "2")).map((each) => JSON.parse(each));
  expect(json).toEqual([
    { msg: "panic: \u001b[31mred" },
    { level: 40, time: 0, msg: "four", port: 1 },
  ]);
  writeFileSync(join(machine.home, "daemon.log"), line("of \u009b2J"));
  expect(JSON.parse((await shown("--json", "-n", "1")).join())).toMatchObject({
    msg: "of \u009b2J",
  });
  expect((await machine.run(["logs", "-n", "few"])).status).toBe(2);
});

scenario("each sync is a line of the log: what, how much of it, and whose it is", async (lab) => {
  const files = { "README.md": "", ".gitignore": "CLAUDE.md" };
  const [a, b] = await lab.twoMachines(emulator.account("lines"), files);
  for (const each of [a, b]) await lab.git.write(join(each.home, "machine"), `the ${each.name}\n`);
  await Promise.all([a.up(), b.up()]);
  const [atA, atB] = [a, b].map((each) => each.spawn(["logs", "--follow"]));
  await a.memsync("set", "build", "npm run build");
  await atA?.untilPrinted(/info {3}sent {7}\S+ {2}memory build {2}\d+ bytes\n/);
  await atB?.untilPrinted(/received {3}\S+ {2}memory build {2}\d+ bytes {2}from the a\n/);
  await b.memsync("rm", "build");
  await atB?.untilPrinted(/sent {7}\S+ {2}memory build deleted {2}\d+ bytes\n/);
  await atA?.untilPrinted(/received {3}\S+ {2}memory build deleted {2}\d+ bytes/);
  await lab.git.write(join(a.folder, "CLAUDE.md"), "# Widget\n");
  await atA?.untilPrinted(/sent {7}\S+ {2}document {2}\d+ bytes\n/);
  await atB?.untilPrinted(/received {3}\S+ {2}document {2}\d+ bytes {2}from the a\n/);
  await atB?.untilPrinted(/wrote {6}\S+ {2}\S+\/b\/CLAUDE\.md {2}9 bytes\n/);
  const lines = (await b.memsync("logs", "--json")).trim().split("\n");
  const received = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "received");
  expect(received[0]).toMatchObject({ memories: 1, key: "build", text: false, machine: "the a" });
  await a.memsync("project", "rm", ".", "--yes");
  await atA?.untilPrinted(/info {3}deleted {4}origin\n/);
  await atB?.untilPrinted(/info {3}deleted {4}origin {2}on the a\n/);
  await a.memsync("link", "--anew");
  await atB?.untilPrinted(/received {3}origin {2}document {2}\d+ bytes {2}from the a\n/);
});

scenario("an outage is told once, and so is its end", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const network = await lab.network(emulator.account("outage"));
  const machine = lab.machine("a", folder, network);
  await machine.up();
  const log = machine.spawn(["logs", "--follow"]);
  await log.untilPrinted(/connected {2}http/);
  network.cut();
  await machine.memsync("set", "key", "value");
  await log.untilPrinted(/warn {3}offline {4}http\S+ {2}the connection/);
  for (let tries = 0; tries < 4; tries++) await machine.run(["sync", "--wait", "1"]);
  const failures = log.stdout.match(/a sync call failed.*/g) ?? [];
  const reasons = failures.map((line) => line.replace(/unit=\S+/, ""));
  expect(failures.length).toBeGreaterThan(0);
  expect(reasons.filter((reason, at) => reason === reasons[at - 1])).toEqual([]);
  network.restore();
  await log.untilPrinted(/offline[\s\S]+connected {2}http/);
  await log.untilPrinted(/sent {7}\S+ {2}memory key/);
  expect(log.stdout.match(/offline/g)).toHaveLength(1);
});

scenario("what a command said to be held has its line as what came otherwise", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("held-line"));
  await machine.up();
  const log = machine.spawn(["logs", "--follow"]);
  await log.untilPrinted(/connected {2}http/);
  await machine.memsync("set", "deploy", PLANTED.github);
  await log.untilPrinted(/warn {3}held {7}\S+ {2}deploy/);
});
