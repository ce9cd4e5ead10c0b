import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HookedName } from "./installed.ts";
import type { Seat } from "./seat.ts";

const FOLDER = join(import.meta.dir, "..", "..", "data", "hooks");
const FILES = { claude: "claude-code", codex: "codex", gemini: "gemini" } as const;

/** Keeps what an assistant told its hooks in its last session, as data of the tests. */
export function recordPayloads({ user, folder }: Seat, name: HookedName): void {
  for (const [event, suffix] of [
    ["session-start", ""],
    ["session-end", "-end"],
  ] as const) {
    const payload = JSON.parse(user.heard(event) ?? "{}") as { readonly session_id: string };
    const text = `${JSON.stringify(payload, undefined, 2)}\n`
      .replaceAll(user.folder, "HOME")
      .replaceAll(folder, "FOLDER")
      .replaceAll(folder.replaceAll(/[^A-Za-z0-9]/g, "-"), "-of-this-folder")
      .replaceAll(payload.session_id, "SESSION");
    writeFileSync(join(FOLDER, `${FILES[name]}${suffix}.json`), text);
  }
}
