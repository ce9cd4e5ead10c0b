import type { Rule } from "./bench/rule.ts";
import { accessRules } from "./rules/access.ts";
import { answerRules } from "./rules/answers.ts";
import { connectionRules } from "./rules/connections.ts";
import { isolationRules } from "./rules/isolation.ts";
import { memoryRules } from "./rules/memories.ts";
import { permissionRules } from "./rules/permissions.ts";
import { projectRules } from "./rules/projects.ts";
import { sessionRules } from "./rules/sessions.ts";
import { syncRules } from "./rules/sync.ts";
import { variantRules } from "./rules/variants.ts";

/** In the order in which they are tried. Rules about all answers come last. */
export const ALL_RULES: readonly Rule[] = [
  ...accessRules,
  ...projectRules,
  ...memoryRules,
  ...syncRules,
  ...variantRules,
  ...connectionRules,
  ...sessionRules,
  ...permissionRules,
  ...isolationRules,
  ...answerRules,
];
