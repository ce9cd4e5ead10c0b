import { join } from "node:path";
import { parseJson } from "../../../shared/json.ts";
import { folderEntries, foldersIn, smallText, transcriptAt } from "../transcripts/list-files.ts";
import { readTranscript } from "../transcripts/read-transcript.ts";
import { objectIn, textOf } from "../transcripts/session-facts.ts";
import type { SessionSource } from "../transcripts/session-source.ts";
import type { TranscriptFile } from "../transcripts/transcript-file.ts";
import { geminiRetention } from "./retention.ts";
import { readGeminiLine } from "./transcript.ts";

const CHAT = /^session-.+\.(jsonl|json)$/;

/**
 * Gemini's sessions: `tmp/<project>/chats/session-*.jsonl` (formerly `.json`) in `~/.gemini`. The
 * file `.project_root` beside the chats names the project's folder, else `projects.json` does.
 *
 * ```
 * const files = await geminiSessions("~/.gemini").list();
 * ```
 */
export function geminiSessions(home: string): SessionSource {
  return {
    name: "gemini",
    read: (file, state) => readTranscript(file, state, readGeminiLine),
    retention: () => geminiRetention(home),
    list: async () => {
      const roots = await projectRoots(join(home, "projects.json"));
      const files: TranscriptFile[] = [];
      for (const project of await foldersIn(join(home, "tmp"))) {
        const place = join(home, "tmp", project);
        const cwd = (await smallText(join(place, ".project_root"))) ?? roots.get(project);
        if (cwd !== undefined) files.push(...(await chatsIn(join(place, "chats"), cwd)));
      }
      return files;
    },
  };
}

async function chatsIn(folder: string, cwd: string): Promise<TranscriptFile[]> {
  const files: TranscriptFile[] = [];
  for (const { name } of await folderEntries(folder)) {
    const [, extension] = CHAT.exec(name) ?? [];
    if (extension === undefined) continue;
    const form = extension === "json" ? "json" : "lines";
    const file = await transcriptAt(folder, name, { form, cwd });
    if (file) files.push(file);
  }
  return files;
}

/** `{"projects": {"/a/folder": "short-id"}}`, the other way round. */
async function projectRoots(path: string): Promise<ReadonlyMap<string, string>> {
  const text = await smallText(path, 1024 * 1024);
  try {
    const { projects } = objectIn(parseJson(text ?? "{}"));
    const roots = Object.entries(objectIn(projects));
    return new Map(
      roots.flatMap(([folder, id]) => {
        const project = textOf(id);
        return project === undefined ? [] : [[project, folder]];
      }),
    );
  } catch {
    return new Map();
  }
}
