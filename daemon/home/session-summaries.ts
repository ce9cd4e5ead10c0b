import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionId } from "../../shared/ids.ts";
import type { Home } from "./home.ts";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** At most this many summaries are kept. The oldest ones go first. */
const KEPT_MAX = 100;

/**
 * Keeps what an assistant wrote about a session when it compacted it, replacing what it wrote
 * before. It stays on this machine: it tells of what was said.
 */
export function keepSummary(home: Home, id: SessionId, summary: string): void {
  mkdirSync(home.summaries, { recursive: true, mode: PRIVATE_FOLDER });
  writeFileSync(pathOf(home, id), summary, { mode: PRIVATE_FILE });
  const files = readdirSync(home.summaries).map((name) => join(home.summaries, name));
  if (files.length <= KEPT_MAX) return;
  const ages = files.map((path) => ({ path, at: statSync(path).mtimeMs }));
  ages.sort((one, other) => other.at - one.at);
  for (const { path } of ages.slice(KEPT_MAX)) rmSync(path, { force: true });
}

/** Undefined where none is kept. */
export function findSummary(home: Home, id: SessionId): string | undefined {
  try {
    return readFileSync(pathOf(home, id), "utf8");
  } catch {
    return undefined;
  }
}

/** A session's id may be any text that an assistant chose, and letter case may count in it. */
function pathOf(home: Home, id: SessionId): string {
  return join(home.summaries, createHash("sha256").update(id).digest("hex").slice(0, 32));
}
