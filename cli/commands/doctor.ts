import type { Command } from "commander";
import { checkAssistants, checkPersonal } from "../doctor/assistant-checks.ts";
import {
  checkCalls,
  checkDaemon,
  checkFailing,
  checkOwn,
  checkPolled,
  checkProjects,
  withStatus,
} from "../doctor/daemon-checks.ts";
import { type Finding, findingOf } from "../doctor/finding.ts";
import {
  checkEmbedded,
  checkHome,
  checkHomeDatabase,
  checkLog,
  checkPermissions,
  checkSetAside,
  nearestFolder,
} from "../doctor/home-checks.ts";
import { checkIgnored } from "../doctor/ignore-checks.ts";
import { checkDisk, checkGit, checkRuntime, checkWatches } from "../doctor/machine-checks.ts";
import { checkMachineName } from "../doctor/machine-name-check.ts";
import { checkMemoryFolders } from "../doctor/memory-folder-checks.ts";
import { checkRemotes } from "../doctor/remote-checks.ts";
import { checkTranscripts } from "../doctor/transcript-checks.ts";
import type { Environment } from "../place/environment.ts";
import { CommandFailed } from "../screen/errors.ts";
import { count, say, sayJson } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { styled, widthOf } from "../screen/terminal.ts";
import { wrapped } from "../screen/text-width.ts";
import { visible } from "../screen/visible.ts";

const HELP = `
Looks at everything that memsync needs and says how to mend what is not as it should be. Exit status
1 when something does not work; a warning is no failure. Each service in use is asked twice.`;

const STYLES = { ok: "green", warning: "yellow", wrong: "red" } as const;
const STATE_WIDTH = 7;
const ABOUT_WIDTH = 11;
const INDENT = " ".repeat(STATE_WIDTH + ABOUT_WIDTH + 4);

/** `doctor`: finds what is wrong, and says how to mend it. */
export function addDoctorCommand(program: Command, env: Environment): void {
  program
    .command("doctor")
    .description("find out what is wrong, and how to mend it")
    .option("--json", "print what is found as JSON")
    .addHelpText("after", HELP)
    .action((options: { readonly json?: boolean }) => doctor(env, options));
}

async function doctor(env: Environment, { json }: { readonly json?: boolean }): Promise<void> {
  const findings = await shownWhile("looking", examine(env));
  if (json) sayJson(findings);
  else for (const finding of findings) show(finding);
  const bad = findings.filter(({ state }) => state === "wrong").length;
  if (bad > 0) {
    throw new CommandFailed(`${count(bad, "thing does", "things do")} not work, see above`);
  }
}

async function examine(env: Environment): Promise<Finding[]> {
  const { home } = env;
  const { findings: ofRemotes, readOnly, wrong } = await checkRemotes(env);
  return [
    await findingOf("runtime", checkRuntime),
    await findingOf("git", checkGit),
    await findingOf("home", () => checkHome(home)),
    await findingOf("permissions", () => checkPermissions(home)),
    await findingOf("disk", () => checkDisk(nearestFolder(home.dir))),
    await findingOf("database", () => checkHomeDatabase(home)),
    ...(await checkEmbedded(home)),
    ...checkSetAside(home),
    await findingOf("log", () => checkLog(home)),
    await findingOf("watching", checkWatches),
    ...(await checkMachineName(env)),
    await findingOf("daemon", () => checkDaemon(env)),
    ...(await withStatus(home, async (status) => [
      ...(await checkCalls(env, status, wrong)),
      checkProjects(status, readOnly),
      ...checkFailing(status),
      ...checkOwn(status, readOnly),
      checkPolled(status),
    ])),
    ...(await checkIgnored(env)),
    ...ofRemotes,
    ...checkAssistants(env),
    ...(await checkMemoryFolders(env)),
    ...(await checkTranscripts(env)),
    ...(await withStatus(home, checkPersonal)),
  ];
}

function show({ about, state, detail, mend }: Finding): void {
  const word = `${styled(STYLES[state], state.padEnd(STATE_WIDTH))}  ${about.padEnd(ABOUT_WIDTH)}`;
  const width = widthOf(process.stdout);
  // On a narrow terminal there is no room beside the names, so what is said stands below them.
  const isBelow = width < 2 * INDENT.length;
  const indent = isBelow ? "  " : INDENT;
  const inColumn = (text: string) => wrapped(text, width - indent.length, 0);
  const details = inColumn(visible(detail));
  const [first = "", ...others] = isBelow ? ["", ...details] : details;
  say(`${word}  ${first}`.trimEnd());
  for (const line of others) say(indent + line);
  for (const line of mend === null ? [] : inColumn(mend)) say(indent + styled("bold", line));
}
