import { confirm, isTerminal } from "./ask.ts";
import { CommandFailed } from "./errors.ts";

/**
 * Asks for a yes before what can't be undone; `--yes` answers in advance. Throws without a yes,
 * also if there is nobody to ask. `undone`: what the failure says then. `does`: what `--yes` does,
 * for a question that says too little without what stands above it.
 */
export async function agreeTo(
  question: string,
  {
    yes = false,
    undone = "nothing was deleted",
    does,
  }: {
    readonly yes?: boolean | undefined;
    readonly undone?: string;
    readonly does?: string | undefined;
  },
) {
  if (yes) return;
  if (!isTerminal()) {
    const asked = does === undefined ? `${question} Say so by --yes` : `--yes ${does}`;
    throw new CommandFailed(`${undone}: ${asked}`, { code: "needs-yes" });
  }
  if (!(await confirm(question))) throw new CommandFailed(undone, { code: "declined" });
}
