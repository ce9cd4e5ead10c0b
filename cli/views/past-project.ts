import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { shellWord } from "../screen/shell-word.ts";

/** What to say of a folder that was unlinked once: whose memories it has, how it gets others. */
export function pastProjectLines({ dir, projectId, past }: BoundLink): string[] {
  if (!past) return [];
  const { name, projectId: id } = past;
  if (id === projectId) return [`${dir} has its former project again: ${name} (${id})`];
  const again = `\`memsync link ${shellWord(dir)} --id ${id}\` has its memories again`;
  return [`${dir} was linked to another project before, ${name} (${id}): ${again}`];
}
