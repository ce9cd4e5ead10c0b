import type { Command } from "commander";
import { prepareHome } from "../../daemon/home/home.ts";
import { selfCommand } from "../../daemon/supervise/self-command.ts";
import { defineService } from "../../daemon/supervise/service-definition.ts";
import { type ManagerOutcome, ServiceManager } from "../../daemon/supervise/service-manager.ts";
import { contactDaemon } from "../contact/daemon-contact.ts";
import { inStartTurn, startInBackground, untilAnswers } from "../contact/start-daemon.ts";
import { stopDaemon } from "../contact/stop-daemon.ts";
import type { Environment } from "../place/environment.ts";
import { CommandFailed } from "../screen/errors.ts";
import { say, sayAside, sayJson } from "../screen/output.ts";

interface JsonOption {
  readonly json?: boolean;
}

/** `install` and `uninstall`: the daemon as a service of the user. */
export function addInstallCommands(program: Command, env: Environment): void {
  program
    .command("install")
    .description("run the daemon as your service: now, at each login, and again when it fails")
    .option("--json", "print what was done as JSON")
    .action((options: JsonOption) => install(env, options));
  program
    .command("uninstall")
    .description("end the service and remove it; nothing in the home is touched")
    .option("--json", "print what was done as JSON")
    .action((options: JsonOption) => uninstall(env, options));
}

async function install(env: Environment, { json }: JsonOption): Promise<void> {
  const { home, variables } = env;
  refuseSecrets(env);
  prepareHome(home);
  const manager = new ServiceManager(home, variables);
  const outcome = await inStartTurn(home, async () => {
    await manager.write(defineService(home, variables));
    return await enable(env, manager);
  });
  adviseOnToken(env);
  adviseOnPlace(selfCommand().at(-1) ?? "");
  if (json) {
    sayJson({
      file: manager.file,
      enabled: outcome.kind === "done",
      reason: outcome.kind === "done" ? null : outcome.reason,
      by_hand: outcome.kind === "done" ? [] : outcome.byHand.map((each) => each.join(" ")),
    });
  } else {
    say(`wrote ${manager.file}`);
    for (const line of outcomeLines(outcome)) say(line);
  }
  if (outcome.kind === "failed") throw new CommandFailed(await unmanaged(env, outcome.reason));
}

/** How the daemon runs without a service manager, and what a person can do. */
async function unmanaged({ home }: Environment, reason: string): Promise<string> {
  const daemon = await contactDaemon(home);
  const now = daemon ? "a daemon runs, and not as a service" : "`memsync start` runs it until then";
  return `the service could not be enabled (${reason}); ${now}`;
}

/** The service replaces a daemon in the background. A daemon at a terminal is left alone. */
async function enable({ home }: Environment, manager: ServiceManager): Promise<ManagerOutcome> {
  const trouble = await manager.trouble();
  if (trouble !== undefined) return { kind: "failed", reason: trouble, byHand: manager.enabling };
  const running = await contactDaemon(home);
  const started = running?.introduction.started;
  if (running && started !== "foreground") await stopDaemon(home, running);
  const outcome = await manager.enable();
  if (outcome.kind === "done") await untilAnswers(home);
  else if (started === "background") await startInBackground(home);
  if (started === "foreground") sayAside(FOREGROUND);
  return outcome;
}

const FOREGROUND =
  "a daemon runs in the foreground: end it, then `memsync start` starts the service";

function outcomeLines(outcome: ManagerOutcome): string[] {
  if (outcome.kind === "failed") {
    return [
      "not enabled; where there is a service manager, this does it:",
      ...outcome.byHand.map((command) => `  ${command.join(" ")}`),
      "without one, have this run at each login:",
      "  memsync start",
    ];
  }
  if (process.platform !== "linux") return ["memsync runs now and at each login"];
  return [
    "memsync runs now and at each login; to have it run without one, too:",
    "  loginctl enable-linger",
  ];
}

/** A unit file must not contain a password, so an address with one is refused. */
function refuseSecrets({ serviceUrl }: Environment): void {
  if (serviceUrl === undefined || !URL.canParse(serviceUrl)) return;
  const { username, password } = new URL(serviceUrl);
  if (username === "" && password === "") return;
  throw new CommandFailed(
    "MEMSYNC_URL holds a user or a password, which must not stand in a service's file",
  );
}

function adviseOnToken({ home, serviceToken }: Environment): void {
  if (serviceToken === undefined) return;
  sayAside(
    "MEMSYNC_TOKEN is not passed on to the service, whose file may be read by others: " +
      `\`memsync login\` keeps the token in ${home.dir}, for the service, too`,
  );
}

/** Warns of a program in npx's cache, which npx may clear at any time. */
function adviseOnPlace(program: string): void {
  if (!/[\\/]_npx[\\/]/.test(program)) return;
  sayAside("this memsync is in npx's cache, which may be cleared: install the package first");
}

async function uninstall({ home, variables }: Environment, { json }: JsonOption): Promise<void> {
  const manager = new ServiceManager(home, variables);
  const removed = await manager.remove();
  if (json) sayJson({ file: manager.file, removed });
  else say(removed ? `removed ${manager.file}` : `no service is installed at ${manager.file}`);
}
