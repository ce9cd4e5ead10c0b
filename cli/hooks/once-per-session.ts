import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../daemon/home/home.ts";
import type { World } from "../../shared/world.ts";

/**
 * Two hooks at one moment come closer together than this, and a session is hardly compacted that
 * often.
 */
const ONE_OCCASION_MS = 10_000;
/** A session is not resumed after this time. */
const KEPT_MS = 30 * 86_400_000;
const KEPT_MAX = 500;

/** The events after which an assistant has forgotten what it was told. */
const FORGETFUL: readonly (string | undefined)[] = ["clear", "compact"];

/** An assistant's session starts, or goes on. */
export interface SessionMoment {
  readonly session: string;
  readonly source: string | undefined;
}

/**
 * Whether nobody was told anything yet at this moment; from then on somebody was. Cursor and VS
 * Code run Claude Code's hooks besides their own, and what is said twice is paid for twice. A
 * session that was cleared or compacted is told again.
 */
export function isFirst(
  home: Home,
  { session, source }: SessionMoment,
  world: Pick<World, "now">,
): boolean {
  mkdirSync(home.hooks, { recursive: true, mode: 0o700 });
  const isForgetful = FORGETFUL.includes(source);
  const what = JSON.stringify([session, isForgetful ? source : "start"]);
  const name = createHash("sha256").update(what).digest("hex").slice(0, 32);
  const path = join(home.hooks, name);
  const now = world.now();
  try {
    writeFileSync(path, "", { flag: "wx", mode: 0o600 });
    utimesSync(path, now / 1000, now / 1000);
    dropOld(home, now);
    return true;
  } catch {
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (!isForgetful || Math.abs(now - at) < ONE_OCCASION_MS) return false;
    utimesSync(path, now / 1000, now / 1000);
    return true;
  }
}

function dropOld(home: Home, now: number): void {
  const names = readdirSync(home.hooks);
  if (names.length < KEPT_MAX) return;
  for (const name of names) {
    const path = join(home.hooks, name);
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (at !== undefined && now - at > KEPT_MS) rmSync(path, { force: true });
  }
}
