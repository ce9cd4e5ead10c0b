import type { RenamedLink } from "../../daemon/links/renamed-links.ts";
import { shellWord } from "../../shared/shell-word.ts";

/** A linked folder, with its project's name. */
interface NamedLink {
  readonly dir: string;
  readonly name: string;
  readonly projectId: string;
}

/** Says that git made this folder of a linked one, and how each of the two answers is given. */
export function renamedShown({
  link: { dir, name, projectId },
  to,
}: RenamedLink<NamedLink>): string {
  const goesOn = `\`memsync link ${shellWord(to)} --id ${projectId}\` goes on with it here`;
  const anew = `\`memsync link ${shellWord(to)}\` makes a project of its own`;
  return `git has renamed ${dir} to ${to}; it is the folder of ${name}: ${goesOn}, ${anew}`;
}
