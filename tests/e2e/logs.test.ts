import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario } from "../support/lab.ts";

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
  const crash = "panic:  [31mred";
  expect(await shown("-n", "4")).toEqual([warned("two"), warned("three"), crash, warned("four")]);
  expect(await shown()).toHaveLength(5);
  expect(await shown("-n", "1")).toEqual([warned("four")]);
  const json = (await shown("--json", "-n", "2")).map((each) => JSON.parse(each));
  expect(json).toEqual([
    { msg: "panic: \u001b[31mred" },
    { level: 40, time: 0, msg: "four", port: 1 },
  ]);
  expect((await machine.run(["logs", "-n", "few"])).status).toBe(2);
});
