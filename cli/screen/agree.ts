import { confirm, isTerminal } from "./ask.ts";
import { CommandFailed } from "./errors.ts";

/**
 * Asks for a yes before what can't be undone; `--yes` answers in advance. Throws without a yes,
 * also if there is nobody to ask. `undone`: what the failure says then.
 */
export async function agreeTo(
  question: string,
  {
    yes = false,
    undone = "nothing was deleted",
  }: { readonly yes?: boolean | undefined; readonly undone?: string },
) {
  if (yes) return;
  if (!isTerminal())
    throw new CommandFailed(`${undone}: ${question} Say so by --yes`, { code: "needs-yes" });
  if (!(await confirm(question))) throw new CommandFailed(undone, { code: "declined" });
}
