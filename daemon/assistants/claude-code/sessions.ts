import { join } from "node:path";
import { folderEntries, foldersIn, transcriptAt } from "../transcripts/list-files.ts";
import { readTranscript } from "../transcripts/read-transcript.ts";
import type { SessionSource } from "../transcripts/session-source.ts";
import type { TranscriptFile } from "../transcripts/transcript-file.ts";
import { claudeCodeRetention } from "./retention.ts";
import { readClaudeCodeLine } from "./transcript.ts";

const TRANSCRIPT = /^([0-9A-Za-z][0-9A-Za-z_-]{0,63})\.jsonl$/;
/** Former versions put a sub-agent's transcript beside its session's. */
const SUB_AGENT = /^agent-/;

/**
 * Claude Code's sessions: `projects/<folder>/<id>.jsonl` in its configuration folder, which is
 * `CLAUDE_CONFIG_DIR`, else `~/.claude`.
 *
 * ```
 * const files = await claudeCodeSessions("~/.claude").list();
 * ```
 */
export function claudeCodeSessions(configDir: string): SessionSource {
  const projects = join(configDir, "projects");
  return {
    name: "claude-code",
    read: (file, state) => readTranscript(file, state, readClaudeCodeLine),
    retention: () => claudeCodeRetention(configDir),
    list: async () => {
      const files: TranscriptFile[] = [];
      for (const project of await foldersIn(projects)) {
        files.push(...(await transcriptsIn(join(projects, project))));
      }
      return files;
    },
  };
}

async function transcriptsIn(folder: string): Promise<TranscriptFile[]> {
  const files: TranscriptFile[] = [];
  for (const { name } of await folderEntries(folder)) {
    const [, id] = TRANSCRIPT.exec(name) ?? [];
    if (id === undefined || SUB_AGENT.test(name)) continue;
    const file = await transcriptAt(folder, name, { form: "lines", id });
    if (file) files.push(file);
  }
  return files;
}
