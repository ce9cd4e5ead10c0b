import { existsSync } from "node:fs";
import type { Home } from "../../daemon/home/home.ts";
import { listLinks } from "../../daemon/home/links.ts";
import { readWholeInbox } from "../../daemon/inbox/inbox.ts";
import { findHolder } from "../../daemon/supervise/daemon-record.ts";
import { takeLock } from "../../shared/sqlite/lock.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { LIVENESS_DEADLINE_MS } from "../contact/daemon-contact.ts";
import { followMoved } from "../contact/follow-moved.ts";
import { findDaemon, type GatewayClient } from "../contact/gateway-client.ts";
import { wasInStartTurn } from "../contact/start-daemon.ts";
import { CommandFailed } from "../screen/errors.ts";
import { homeFailure } from "../screen/home-failure.ts";
import { count } from "../screen/output.ts";
import type { Environment } from "./environment.ts";
import { withLocal } from "./place.ts";

/** However little time a command has, a daemon gets this long to show that it is alive. */
const ALIVE_MS_MIN = 1000;

/**
 * The home's daemon, once one that is just starting answers. Otherwise throws why there is none,
 * around the deadline.
 */
export async function getDaemon(env: Environment, deadlineMs?: number): Promise<GatewayClient> {
  const found = await findReadyDaemon(env, deadlineMs);
  if (found) return found;
  throw await noDaemon(env);
}

/** The same; undefined where there is none. */
export async function findReadyDaemon(
  env: Environment,
  deadlineMs?: number,
): Promise<GatewayClient | undefined> {
  const aliveMs = Math.min(LIVENESS_DEADLINE_MS, Math.max(deadlineMs ?? Infinity, ALIVE_MS_MIN));
  const daemon = await findDaemon(env.home, aliveMs);
  const found =
    daemon ||
    ((await wasInStartTurn(env.home, deadlineMs)) && (await findDaemon(env.home, aliveMs)));
  if (found) await followMoved(found, env.dir);
  return found || undefined;
}

/**
 * Why there is no daemon, and what waits for one. `unread`: what was thrown where the home was to
 * be read in its place.
 */
export async function noDaemon(env: Environment, unread?: unknown): Promise<CommandFailed> {
  const why = await whyNoDaemon(env.home);
  try {
    if (unread !== undefined) throw unread;
    const { said, advice } = NO_ANSWER[why === "none" && !(await isInUse(env)) ? "new" : why];
    return new CommandFailed(`${said}${advice}${await whatWaits(env)}`, {
      code: NO_ANSWER[why].code,
    });
  } catch (thrown) {
    // No daemon starts on such a home, or repairs it, and the failure says so.
    return new CommandFailed(`${NO_ANSWER[why].said}; ${homeFailure(thrown, env.home.dir)}`, {
      code: NO_ANSWER[why].code,
    });
  }
}

/**
 * The daemon that is just being started or replaced, once it answers; undefined after the deadline,
 * or if none is. Also waits for a daemon that is ending, since another one may follow it.
 */
export async function findStarting(
  home: Home,
  deadlineMs: number,
): Promise<GatewayClient | undefined> {
  const deadline = realWorld.monotonic() + deadlineMs;
  for (;;) {
    const isTurn = await wasInStartTurn(home, deadlineMs);
    if (!isTurn && !existsSync(home.record)) return undefined;
    const found = await findDaemon(home);
    if (found || realWorld.monotonic() > deadline) return found;
    const why = isTurn ? "turn" : await whyNoDaemon(home);
    // A silent daemon that still has its socket will not answer.
    if (why === "none" || (why === "silent" && existsSync(home.socket))) return undefined;
    await delay(realWorld, POLL_MS);
  }
}

const POLL_MS = 50;

/** What a command that needs a daemon says if there is none. */
const NO_ANSWER = {
  none: {
    code: "no-daemon",
    said: "no daemon is running",
    advice: ": start it with `memsync start`",
  },
  /** The same in a home without a project. */
  new: {
    code: "no-daemon",
    said: "no daemon is running",
    advice: ": `memsync up` in a project's folder starts one, and follows that project",
  },
  starting: {
    code: "daemon-silent",
    said: "the daemon is starting and does not answer yet",
    advice: ": try again in a moment",
  },
  silent: {
    code: "daemon-silent",
    said: "the daemon does not answer",
    advice: ": `memsync restart` starts another in its place",
  },
} as const;

/** Whether the home follows any project yet. */
async function isInUse(env: Environment): Promise<boolean> {
  return await withLocal(env, async (db) => db !== undefined && (await listLinks(db)).length > 0);
}

/** Why no daemon answers, although some process may have the home. */
export async function whyNoDaemon(home: Home): Promise<"none" | "starting" | "silent"> {
  if (!existsSync(home.lock)) return "none";
  // Without permission to read the lock, nobody answers either.
  const lock = await takeLock(home.lock).catch(() => "unknown" as const);
  if (typeof lock === "object") lock.release();
  if (lock !== undefined) return "none";
  return findHolder(home)?.ready === false ? "starting" : "silent";
}

/** How much was saved since the last daemon ended. It is safe, but nobody sends it. */
async function whatWaits(env: Environment): Promise<string> {
  const writes = await withLocal(env, async (db) => (db ? await readWholeInbox(db) : []));
  if (writes.length === 0) return "";
  const wait = writes.length === 1 ? "waits" : "wait";
  const saved = count(writes.length, "write", "writes");
  return `; ${saved} saved meanwhile ${wait} for it: \`memsync preview\` shows what`;
}
