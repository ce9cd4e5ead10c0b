import { expect } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import { MEMSYNC } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const LAUNCHER = join(import.meta.dir, "../../scripts/launcher/run.ts");

/** A program as npm's script of Node starts the command: beside itself, as an older Node has to. */
async function launched(lab: Lab, command: readonly string[]): Promise<string[]> {
  const { outputs } = await Bun.build({ entrypoints: [LAUNCHER], target: "node", format: "cjs" });
  const path = lab.git.path("launcher.cjs");
  await lab.git.write(path, (await outputs[0]?.text()) ?? "");
  const [program, ...args] = command;
  const given = [program, args, args.includes("exec")].map((each) => JSON.stringify(each));
  const run = `(${given.join(", ")})`;
  return ["node", "-e", `process.execve = undefined; require(${JSON.stringify(path)}).run${run}`];
}

async function untilClosed(url: string): Promise<void> {
  await waitFor("the port to be closed", () =>
    fetch(`${url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
}

scenario("an emulator ends in good order when its launcher is killed", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const after = lab.git.path("after.json");
  const command = [...MEMSYNC, "emulator", "--port", "0", "--export-on-exit", after];
  const launcher = machine.spawnOther(await launched(lab, command));
  const url = await launcher.untilPrinted(/ready at (\S+)/);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await launcher.end("SIGKILL");
  const left = await waitFor("the export", () => readFile(after, "utf8").catch(() => undefined));
  expect(JSON.parse(left)).toMatchObject({ projects: [] });
  await untilClosed(url);
});

scenario("`exec` ends its command and its emulator when its launcher is killed", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const asked = lab.git.path("asked");
  const script = `trap 'echo TERM > ${asked}; exit' TERM
    echo "url $MEMSYNC_URL pipe \${MEMSYNC_LAUNCHER_PIPE:-none} ready"
    while :; do read -r line || wait; done`;
  const command = [...MEMSYNC, "exec", "--", "sh", "-c", script];
  const launcher = machine.spawnOther(await launched(lab, command));
  const url = await launcher.untilPrinted(/url (\S+) pipe none ready/);
  await launcher.end("SIGKILL");
  await waitFor("the command to be asked", () => readFile(asked, "utf8").catch(() => undefined));
  await untilClosed(url);
});

for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) {
  scenario(
    `${signal} of the launcher reaches the command of \`exec\` as what it is`,
    async (lab) => {
      const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
      const traps = ["INT", "HUP", "TERM"].map(
        (each) => `trap 'echo came SIG${each}; exit 9' ${each}`,
      );
      const script = `${traps.join("; ")}; echo ready; while :; do sleep 0.05; done`;
      const command = [...MEMSYNC, "exec", "--", "sh", "-c", script];
      const launcher = machine.spawnOther(await launched(lab, command));
      await launcher.untilPrinted(/(ready)/);
      expect(await launcher.end(signal)).toMatchObject({
        status: 9,
        stdout: `ready\ncame ${signal}\n`,
      });
    },
  );
}

scenario(
  "a daemon that is left behind neither holds its launcher nor ends with it",
  async (lab) => {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    const launcher = machine.spawnOther(await launched(lab, [...MEMSYNC, "start"]));
    expect(await launcher.ended()).toMatchObject({ status: 0 });
    const pid = machine.holder();
    await machine.status();
    expect(machine.holder()).toBe(pid);
    expect(await machine.memsync("stop")).toContain("has ended");
  },
);

scenario("a process that keeps all that it was given does not hold the launcher", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const script = "sleep 300 > left 2>&1 & echo $!";
  const launcher = machine.spawnOther(await launched(lab, ["sh", "-c", script]));
  const { status, stdout } = await launcher.ended();
  expect(status).toBe(0);
  // It would have held it for longer than this test may take.
  process.kill(Number(stdout), "SIGKILL");
});
