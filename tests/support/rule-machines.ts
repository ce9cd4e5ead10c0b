import { join } from "node:path";
import { RULE_FOLDERS } from "../../daemon/assistants/rules/rule-folders.ts";
import type { TestedFormat } from "./memory-machines.ts";

/** Rules for Cursor, and with them whatever other rules there are. */
export const CURSOR_RULES: TestedFormat = {
  format: { kind: "rules", prefix: "rules/cursor/", ending: ".mdc", isDeep: true },
  folderOf: ({ project }) => join(project, ".cursor", "rules"),
  sourceOf: () => RULE_FOLDERS,
};
