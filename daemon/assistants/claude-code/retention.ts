import { join } from "node:path";
import { parseJson } from "../../../shared/json.ts";
import { smallText } from "../transcripts/list-files.ts";
import { daysMs, type Retention } from "../transcripts/retention.ts";
import { objectIn } from "../transcripts/session-facts.ts";

const SETTING = "cleanupPeriodDays";
const DAYS = 30;
const SETTINGS_BYTES_MAX = 1024 * 1024;

/** Where an administrator keeps settings that count before the user's. */
const MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/claude-code/managed-settings.json",
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
  win32: "C:\\Program Files\\ClaudeCode\\managed-settings.json",
};

/**
 * Claude Code deletes at its start what was written to last before `cleanupPeriodDays`; 30 where
 * its settings say nothing, or what it refuses. A project's own settings are not looked at.
 */
export async function claudeCodeRetention(configDir: string): Promise<Retention> {
  const managed = MANAGED[process.platform];
  const files = [...(managed ? [managed] : []), join(configDir, "settings.json")];
  for (const file of files) {
    const days = await daysIn(file);
    if (days !== undefined) return { ageMs: daysMs(days), setting: SETTING };
  }
  return { ageMs: daysMs(DAYS), setting: SETTING };
}

async function daysIn(path: string): Promise<number | undefined> {
  const text = await smallText(path, SETTINGS_BYTES_MAX);
  try {
    const days = objectIn(parseJson(text ?? "{}"))[SETTING];
    return typeof days === "number" && days >= 1 ? days : undefined;
  } catch {
    return undefined;
  }
}
