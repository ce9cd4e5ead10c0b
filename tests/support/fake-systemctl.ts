// A service manager for tests, called as `systemctl --user …`. It keeps what it was asked for in
// the file `calls` beside FAKE_SYSTEMD, starts units by what they say, and never starts one again.
import { spawn } from "node:child_process";
import { appendFileSync, closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseUnit } from "./parse-unit.ts";

const folder = process.env.FAKE_SYSTEMD ?? "";
const [, verb = "", ...words] = process.argv.slice(2);
const unit = words.at(-1) ?? "";

appendFileSync(join(folder, "calls"), `${[verb, ...words].join(" ")}\n`);
if (existsSync(join(folder, "broken"))) {
  process.stderr.write("Failed to connect to bus: No medium found\n");
  process.exit(1);
}
if (["enable", "start", "restart"].includes(verb)) startUnit();

function startUnit(): void {
  const path = join(process.env.HOME ?? "", ".config", "systemd", "user", unit);
  const { command, environment, values } = parseUnit(readFileSync(path, "utf8"));
  const [program = "", ...args] = command;
  const output = values.get("Service.StandardOutput")?.[0]?.replace(/^append:/, "") ?? "";
  const log = openSync(output.replaceAll("%%", "%"), "a");
  const stdio = ["ignore", log, log] as const;
  const child = spawn(program, args, {
    stdio: [...stdio],
    cwd: "/",
    detached: true,
    env: environment,
  });
  child.unref();
  closeSync(log);
}
