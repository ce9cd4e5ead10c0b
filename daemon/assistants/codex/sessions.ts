import { join } from "node:path";
import { parseJson } from "../../../shared/json.ts";
import { folderEntries, foldersIn, smallText, transcriptAt } from "../transcripts/list-files.ts";
import { readTranscript } from "../transcripts/read-transcript.ts";
import { objectIn, textOf } from "../transcripts/session-facts.ts";
import type { SessionSource } from "../transcripts/session-source.ts";
import type { TranscriptFile } from "../transcripts/transcript-file.ts";
import { readCodexLine } from "./transcript.ts";

const ROLLOUT = /^rollout-.+\.jsonl(\.zst)?$/;
const INDEX_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Codex' sessions: `sessions/YYYY/MM/DD/rollout-*.jsonl` and `archived_sessions/` in its folder,
 * which is `CODEX_HOME`, else `~/.codex`. It compresses old ones; the plain file counts if both are
 * there. Their names are in `session_index.jsonl`.
 *
 * ```
 * const files = await codexSessions("~/.codex").list();
 * ```
 */
export function codexSessions(home: string): SessionSource {
  return {
    name: "codex",
    read: (file, state) => readTranscript(file, state, readCodexLine),
    list: async () => [
      ...(await rolloutsBelow(join(home, "sessions"))),
      ...(await rolloutsIn(join(home, "archived_sessions"))),
    ],
    titles: () => threadNames(join(home, "session_index.jsonl")),
  };
}

/** Codex keeps them in a folder for each day, below its month and its year. */
async function rolloutsBelow(sessions: string): Promise<TranscriptFile[]> {
  let folders = [sessions];
  for (let depth = 0; depth < 3; depth += 1) {
    const below = folders.map(async (folder) =>
      (await foldersIn(folder)).map((name) => join(folder, name)),
    );
    folders = (await Promise.all(below)).flat();
  }
  const files: TranscriptFile[] = [];
  for (const folder of folders) files.push(...(await rolloutsIn(folder)));
  return files;
}

async function rolloutsIn(folder: string): Promise<TranscriptFile[]> {
  const names = (await folderEntries(folder))
    .map(({ name }) => name)
    .filter((name) => ROLLOUT.test(name));
  const plain = new Set(names.filter((name) => name.endsWith(".jsonl")));
  const files: TranscriptFile[] = [];
  for (const name of names) {
    const isCompressed = !plain.has(name);
    if (isCompressed && plain.has(name.slice(0, -".zst".length))) continue;
    const form = isCompressed ? "zstd-lines" : "lines";
    const file = await transcriptAt(folder, name, { form });
    if (file) files.push(file);
  }
  return files;
}

/** The newest line about a session counts. */
async function threadNames(path: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const line of (await smallText(path, INDEX_BYTES_MAX))?.split("\n") ?? []) {
    const { id, name } = threadName(line);
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  return names;
}

function threadName(line: string) {
  try {
    const { id, thread_name } = objectIn(parseJson(line));
    return { id: textOf(id), name: textOf(thread_name) };
  } catch {
    return {};
  }
}
