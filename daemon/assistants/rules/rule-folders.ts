import type { FolderFormat } from "../folders/folder-format.ts";
import type { FolderSource } from "../folders/owned-folder.ts";
import { type FolderOfProject, findProjectFolders } from "../folders/project-folder.ts";

/** Keys of memories that are rules begin with it. */
const PREFIX = "rules/";

function format(of: string, ending: string): FolderFormat {
  return { kind: "rules", prefix: `${PREFIX}${of}/`, ending, isDeep: true };
}

/** Cursor reads no other files there. */
const CURSOR: FolderOfProject = { format: format("cursor", ".mdc"), names: [".cursor", "rules"] };
const CLAUDE: FolderOfProject = { format: format("claude", ".md"), names: [".claude", "rules"] };

/** The rules of each linked folder, of whatever assistant. */
export const RULE_FOLDERS: FolderSource = {
  kind: "rules",
  async find({ links }) {
    const found = [CURSOR, CLAUDE].map((folder) => findProjectFolders(links, folder));
    return (await Promise.all(found)).flat();
  },
};

/**
 * Whether a memory is a rule. The assistant whose it is reads it by itself, at the start of each
 * session.
 *
 * ```
 * isRuleKey("rules/cursor/tests.mdc"); // true
 * ```
 */
export function isRuleKey(key: string): boolean {
  return key.startsWith(PREFIX);
}
