import { confirm, isTerminal } from "./ask.ts";
import { CommandFailed } from "./errors.ts";

/**
 * Asks for a yes before something is deleted for good; `--yes` answers in advance. Throws without a
 * yes, also where there is nobody to ask.
 */
export async function agreeTo(question: string, { yes = false }: { readonly yes?: boolean }) {
  if (yes) return;
  if (!isTerminal()) throw new CommandFailed(`nothing was deleted: ${question} Say so by --yes`);
  if (!(await confirm(question))) throw new CommandFailed("nothing was deleted");
}
