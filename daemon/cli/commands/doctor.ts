import type { Command } from "commander";
import { checkDaemon, checkPolled, checkProjects, withStatus } from "../doctor/daemon-checks.ts";
import { type Finding, findingOf } from "../doctor/finding.ts";
import {
  checkDatabase,
  checkHome,
  checkLog,
  checkPermissions,
  nearestFolder,
} from "../doctor/home-checks.ts";
import { checkDisk, checkGit, checkRuntime, checkWatches } from "../doctor/machine-checks.ts";
import { checkRemotes } from "../doctor/remote-checks.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed } from "../errors.ts";
import { count, say, sayJson } from "../output.ts";
import { styled } from "../terminal.ts";

const HELP = `
Looks at everything that memsync needs and says how to mend what is not as it should be. Exit status
1 when something does not work; a warning is no failure. Each service in use is asked once.`;

const STYLES = { ok: "green", warning: "yellow", wrong: "red" } as const;
const STATE_WIDTH = 7;
const ABOUT_WIDTH = 11;

/** `doctor`: what is wrong, and how to mend it. */
export function addDoctorCommand(program: Command, env: Environment): void {
  program
    .command("doctor")
    .description("find out what is wrong, and how to mend it")
    .option("--json", "print what is found as JSON")
    .addHelpText("after", HELP)
    .action((options: { readonly json?: boolean }) => doctor(env, options));
}

async function doctor(env: Environment, { json }: { readonly json?: boolean }): Promise<void> {
  const findings = await examine(env);
  if (json) sayJson(findings);
  else for (const finding of findings) show(finding);
  const bad = findings.filter(({ state }) => state === "wrong").length;
  if (bad > 0) {
    throw new CommandFailed(`${count(bad, "thing does", "things do")} not work, see above`);
  }
}

async function examine(env: Environment): Promise<Finding[]> {
  const { home } = env;
  return [
    await findingOf("runtime", checkRuntime),
    await findingOf("git", checkGit),
    await findingOf("home", () => checkHome(home)),
    await findingOf("permissions", () => checkPermissions(home)),
    await findingOf("disk", () => checkDisk(nearestFolder(home.dir))),
    await findingOf("database", () => checkDatabase(home)),
    await findingOf("log", () => checkLog(home)),
    await findingOf("watching", checkWatches),
    await findingOf("daemon", () => checkDaemon(home)),
    ...(await withStatus(home, checkProjects)),
    ...(await withStatus(home, checkPolled)),
    ...(await checkRemotes(env)),
  ];
}

function show({ about, state, detail, mend }: Finding): void {
  const word = styled(STYLES[state], state.padEnd(STATE_WIDTH));
  say(`${word}  ${about.padEnd(ABOUT_WIDTH)}  ${detail}`);
  if (mend !== null) say(`${" ".repeat(STATE_WIDTH + ABOUT_WIDTH + 4)}${styled("bold", mend)}`);
}
