import { join } from "node:path";
import { claudeCodeSessions } from "../claude-code/sessions.ts";
import { codexSessions } from "../codex/sessions.ts";
import { geminiSessions } from "../gemini/sessions.ts";
import { openCodeSessions } from "../opencode/sessions.ts";
import type { SessionSource } from "../transcripts/session-source.ts";

/** The assistants whose sessions are recorded, each where it keeps them for this user. */
export function assistantsOf(
  userFolder: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly SessionSource[] {
  return [
    claudeCodeSessions(env.CLAUDE_CONFIG_DIR || join(userFolder, ".claude")),
    codexSessions(env.CODEX_HOME || join(userFolder, ".codex")),
    geminiSessions(join(userFolder, ".gemini")),
    openCodeSessions({
      dataDir: join(env.XDG_DATA_HOME || join(userFolder, ".local", "share"), "opencode"),
      database: env.OPENCODE_DB,
    }),
  ];
}
