import type { Command } from "commander";
import type { Daemon } from "../../daemon/daemon.ts";
import type { OnActivity } from "../../daemon/home/activity.ts";
import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import { isSynced } from "../../daemon/status/synced-projects.ts";
import { unforeseen } from "../../shared/sqlite/failures.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { askStatus } from "../contact/daemon-contact.ts";
import { findDaemon, type GatewayClient } from "../contact/gateway-client.ts";
import { callSync, waitingIn, watchSync } from "../contact/sync-progress.ts";
import { takeHome } from "../contact/take-home.ts";
import { type Running, runDaemon } from "../lifecycle/run-daemon.ts";
import {
  type HomeBefore,
  lookBefore,
  sayOfRunning,
  sayOfShell,
} from "../lifecycle/shell-service.ts";
import { RULE } from "../live/frame.ts";
import { LiveUp } from "../live/live-up.ts";
import type { Environment } from "../place/environment.ts";
import { assertFolder, meantFolder, refuseRenamed, sayMeant } from "../place/meant-folder.ts";
import { activityLine } from "../screen/activity-view.ts";
import { Interrupted } from "../screen/ask.ts";
import { CommandFailed } from "../screen/errors.ts";
import { count, inLines, say, sayAside, sayJson, saySentence, sayText } from "../screen/output.ts";
import { ShownLooking } from "../screen/shown-looking.ts";
import { type Counts, restAfter, shownWhile } from "../screen/shown-while.ts";
import { findStanding } from "../screen/standing.ts";
import { hasTerminal } from "../screen/terminal.ts";
import { visible } from "../screen/visible.ts";
import { conflictCountLines, wholeStatus } from "../status/whole-status.ts";
import { pastProjectLines } from "../views/past-project.ts";
import { settledJoinLines } from "../views/settled-joins.ts";
import { screenOf, statusOnScreen } from "../views/status-summary.ts";
import { linkFolders } from "../writes/link-folders.ts";
import { offerFile } from "../writes/offer-file.ts";
import { offerLogin } from "./login.ts";

interface UpOptions {
  readonly json?: boolean;
}

/** `up` waits this long for the first contact and the first look at the files before it prints. */
const FIRST_SYNC_SECONDS = 3;
/** Does not wait for what can't go now: the status shows that. */
const UNLESS_BUSY = { unlessBusy: true } as const;

/** A command that only shows the status waits this long for the service's first answer. */
const CONTACT_DEADLINE_MS = 1000;
/** A daemon that begins looks at each linked folder, which takes a few processes of git. */
const BEGUN_DEADLINE_MS = 20_000;
const CONTACT_POLL_MS = 20;

/** `up`: the daemon in the foreground. */
export function addUpCommand(program: Command, env: Environment): void {
  program
    .command("up [dirs...]")
    .description("run the daemon here, following these projects (default: the current one)")
    .option("--json", "print the status as JSON")
    .action((dirs: string[], options: UpOptions) => up(env, dirs, options));
}

async function up(env: Environment, dirs: readonly string[], options: UpOptions): Promise<void> {
  const folders = await foldersOf(env, dirs);
  if (!options.json) await offerLogin(env);
  const lock = await takeHome(env.home);
  if (!lock) {
    const status = await joinRunning(env, folders, options);
    await show(env, status, { ...options, headline: "memsync is running already; linked there" });
    return;
  }
  const view = await viewFor(env, options);
  const looking = new ShownLooking();
  try {
    await runDaemon(lock, {
      env,
      started: "foreground",
      onBegin: (looked) => looking.began(looked),
      onUp: async (daemon, running) => {
        await looking.end();
        await begin(env, folders, { daemon, looking });
        await view.open(running);
      },
      onActivity: view.onActivity,
      onEnding: () => view.close(),
    });
  } finally {
    await looking.end();
    view.close();
  }
  view.ended();
}

/** Links the folders, waits a moment for the services, and asks what needs a person. */
async function begin(
  env: Environment,
  folders: readonly string[],
  { daemon, looking }: { readonly daemon: Daemon; readonly looking: ShownLooking },
): Promise<void> {
  const known = linkedDirs(await daemon.status());
  await linkAndSayPast(folders, (dir, more) => daemon.link(dir, { more }));
  await looking.during(daemon.waitForDue(FIRST_SYNC_SECONDS, UNLESS_BUSY));
  let isChanged = false;
  for (const dir of folders) {
    const offered = offerFile(env, daemon, { dir, isNew: !known.has(dir) });
    isChanged = (await offered.catch(endIfInterrupted)) || isChanged;
  }
  if (isChanged) await watchSync(daemon, daemon.sync(FIRST_SYNC_SECONDS, UNLESS_BUSY));
}

function linkedDirs({ projects }: DaemonStatus): ReadonlySet<string> {
  return new Set(projects.flatMap(({ folders }) => folders.map(({ dir }) => dir)));
}

/** How `up` shows the daemon's activity. */
interface UpView {
  readonly onActivity: OnActivity | undefined;
  open(running: Running): Promise<void>;
  /** May be called several times. */
  close(): void;
  /** Called when the daemon has ended properly. */
  ended(): void;
}

async function viewFor(env: Environment, options: UpOptions): Promise<UpView> {
  const before = await lookBefore(env);
  return isLive(options) ? liveView(env, before) : plainView(env, { ...options, before });
}

function isLive({ json }: UpOptions): boolean {
  const { NO_COLOR, CI, TERM } = process.env;
  return hasTerminal() && !json && !NO_COLOR && !CI && TERM !== "dumb";
}

function liveView(env: Environment, before: HomeBefore): UpView {
  const live = new LiveUp();
  return {
    onActivity: live.onActivity,
    async open(running) {
      const status = await running.daemon().status();
      sayOfShell(env, status, before);
      const standing = await findStanding(status, env.dir);
      live.open(running, standing.kind === "in" ? standing : { kind: "nowhere" });
    },
    close: () => live.close(),
    ended: () =>
      saySentence(`memsync has ended${live.status ? `: ${leftBehind(live.status)}` : ""}`),
  };
}

/** What only this machine has: the user may be about to switch it off. */
function leftBehind(status: DaemonStatus): string {
  const waiting = waitingIn(status);
  if (waiting > 0)
    return `${count(waiting, "change waits", "changes wait")} here for the next start`;
  // A machine with the embedded service alone has nothing to sync with.
  const isHereAlone = status.remotes.every(({ service }) => service.state === "embedded");
  if (isHereAlone) return "everything is saved here";
  return isSynced(status) ? "everything is synced" : "what is saved is kept here";
}

/** Prints the status once, and then one line for each event. */
function plainView(env: Environment, options: ShowOptions): UpView {
  let isOpen = false;
  return {
    onActivity(activity) {
      if (isOpen && !options.json) say(visible(`${nowShown()}  ${activityLine(activity)}`));
    },
    async open(running) {
      const headline = "memsync is up; leave this running, or stop it with Ctrl-C";
      const status = await running.daemon().status();
      // A status that can't be shown must not end the daemon.
      await show(env, status, { ...options, headline }).catch((thrown) =>
        sayAside(unforeseen(thrown, env.home.dir)),
      );
      isOpen = true;
    },
    close() {
      isOpen = false;
    },
    ended() {},
  };
}

function nowShown(): string {
  return timestampOf(realWorld.now());
}

/** The named folders, or the current one. Throws where one does not exist. */
export async function foldersOf(env: Environment, dirs: readonly string[]): Promise<string[]> {
  const folders: string[] = [];
  for (const dir of dirs.length === 0 ? [undefined] : dirs) {
    await refuseRenamed(env, dir);
    const folder = await meantFolder(env, dir);
    await assertFolder(folder);
    await sayMeant(env, dir, folder);
    folders.push(folder);
  }
  return folders;
}

async function joinRunning(
  env: Environment,
  folders: readonly string[],
  { json }: UpOptions,
): Promise<DaemonStatus> {
  const daemon = await findDaemon(env.home);
  if (!daemon)
    throw new CommandFailed("the daemon that ran has ended: try again", { code: "no-daemon" });
  sayOfRunning(env, daemon.introduction);
  const known = json ? undefined : linkedDirs(await askStatus(daemon));
  const status = await linkAndLook(daemon, folders);
  if (!known) return status;
  const running = {
    status: () => askStatus(daemon),
    link: (dir: string, options: object) =>
      daemon.call("POST", "/_memsync/link", { body: { dir, ...options } }),
  };
  let isChanged = false;
  for (const dir of folders) {
    isChanged = (await offerFile(env, running, { dir, isNew: !known.has(dir) })) || isChanged;
  }
  if (!isChanged) return status;
  return (await watchSync(daemon, callSync(daemon, FIRST_SYNC_SECONDS, UNLESS_BUSY))).status;
}

/** Links the folders and resolves to the status after a first look at them. */
export async function linkAndLook(
  daemon: GatewayClient,
  folders: readonly string[],
): Promise<DaemonStatus> {
  await linkAndSayPast(folders, async (dir, more) => {
    return await daemon.call<BoundLink>("POST", "/_memsync/link", { body: { dir, more } });
  });
  const options = { call: "wait", ...UNLESS_BUSY } as const;
  return (await watchSync(daemon, callSync(daemon, FIRST_SYNC_SECONDS, options))).status;
}

/**
 * Links the folders. Remarks on them are printed when all are linked, so that no bar stands above
 * them.
 */
async function linkAndSayPast(
  folders: readonly string[],
  link: (dir: string, more: boolean) => Promise<BoundLink>,
): Promise<void> {
  const lines: string[] = [];
  try {
    await linkFolders(folders, async (dir, more) => {
      const linked = await link(dir, more);
      lines.push(...pastProjectLines(linked), ...settledJoinLines(linked));
    });
  } finally {
    for (const line of lines) sayAside(line);
  }
}

/**
 * The status, once every folder was looked at and it is known whether the services answer, or after
 * a moment without that.
 */
export async function contactedStatus(daemon: GatewayClient): Promise<DaemonStatus> {
  let counts: Counts | undefined;
  const looking = untilContacted(daemon, (status) => {
    counts = lookedAt(status);
  });
  return await shownWhile("looking at", looking, { unit: "folders", counts: () => counts });
}

function lookedAt({ projects }: DaemonStatus): Counts {
  const folders = projects.flatMap((project) => project.folders);
  const done = folders.filter(({ why }) => why !== "not-looked-at").length;
  return { done, total: folders.length };
}

async function untilContacted(
  daemon: GatewayClient,
  onStatus: (status: DaemonStatus) => void,
): Promise<DaemonStatus> {
  const began = realWorld.monotonic();
  for (;;) {
    const askedAt = realWorld.monotonic();
    const status = await askStatus(daemon);
    onStatus(status);
    const isKnown = status.remotes.every(
      ({ service: { online, message } }) => online || message !== null,
    );
    const isBeginning = status.projects.some(({ folders }) =>
      folders.some(({ why }) => why === "not-looked-at"),
    );
    const deadlineMs = isBeginning ? BEGUN_DEADLINE_MS : CONTACT_DEADLINE_MS;
    const isLate = realWorld.monotonic() - began > deadlineMs;
    if ((isKnown && !isBeginning) || isLate) return status;
    await delay(realWorld, restAfter(CONTACT_POLL_MS, realWorld.monotonic() - askedAt));
  }
}

/** While a question is asked, the terminal sends no signals, so Ctrl-C ends the process here. */
function endIfInterrupted(thrown: unknown): Promise<never> {
  if (!(thrown instanceof Interrupted)) throw thrown;
  process.kill(process.pid, "SIGINT");
  // Never resolves, because the process ends: nobody would read what follows.
  return new Promise(() => {});
}

interface ShowOptions extends UpOptions {
  readonly before?: HomeBefore | undefined;
}

/** A screen with fewer rows has no room for the rule. */
const ROWS_FOR_RULE = 12;

/** Prints a headline and the status, or the status as JSON. */
export async function show(
  env: Environment,
  found: DaemonStatus,
  { headline, json, before }: { readonly headline: string } & ShowOptions,
): Promise<void> {
  const status = await wholeStatus(env, found);
  if (json) sayJson(status);
  else {
    const standing = await findStanding(status, env.dir);
    const screen = screenOf();
    const isRuleTold = status.projects.length > 0 && (screen?.rows ?? Infinity) >= ROWS_FOR_RULE;
    const head = inLines(headline, process.stdout);
    const rule = isRuleTold ? inLines(RULE, process.stdout) : [];
    const rows = (screen?.rows ?? 0) - head.length - rule.length;
    const shown = statusOnScreen(status, { standing }, screen && { ...screen, rows });
    for (const line of [...head, ...shown]) say(line);
    sayText(conflictCountLines(status));
    for (const line of rule) say(line);
  }
  sayOfShell(env, status, before);
}
