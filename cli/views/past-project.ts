import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { shellWord } from "../../shared/shell-word.ts";

/** What to say of a folder that may have been linked before: how it gets the memories of then. */
export function pastProjectLines({ dir, projectId, past, lost }: BoundLink): string[] {
  if (!past) {
    return lost.map((each) => {
      const whose = `${each.dir} is gone, the folder of ${each.name} (${each.projectId})`;
      const renamed = `\`memsync link ${shellWord(dir)} --id ${each.projectId}\` if it is this one`;
      return `${whose}: ${renamed} under another name`;
    });
  }
  const { name, projectId: id } = past;
  if (id === projectId) return [`${dir} has its former project again: ${name} (${id})`];
  const again = `\`memsync link ${shellWord(dir)} --id ${id}\` has its memories again`;
  return [`${dir} was linked to another project before, ${name} (${id}): ${again}`];
}
