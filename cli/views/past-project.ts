import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { shellWord } from "../../shared/shell-word.ts";

/** What to say of a folder that may have been linked before: how it gets the memories of then. */
export function pastProjectLines({ dir, projectId, past, lost, moved }: BoundLink): string[] {
  // What it was linked to is told with what came from there.
  if (moved) return [];
  if (!past) {
    return lost.map((each) => {
      const whose = `${each.dir} is gone, the folder of ${each.name} (${each.projectId})`;
      const goesOn = (folder: string) => `\`memsync link ${folder} --id ${each.projectId}\``;
      if (each.to !== null && each.to !== dir) {
        const is = `git has renamed it to ${each.to}`;
        return `${whose}: ${is}; ${goesOn(shellWord(each.to))} goes on with it there`;
      }
      // The lost folder was inside this one, which must not get its project: both would be one. So
      // another folder has to be named.
      if (each.to === null && each.dir.startsWith(`${dir}/`)) {
        return `${whose}: ${goesOn("DIR")} goes on with it, if DIR is it under another name`;
      }
      return `${whose}: ${goesOn(shellWord(dir))} if it is this one under another name`;
    });
  }
  const { name, projectId: id } = past;
  if (id === projectId) return [`${dir} has its former project again: ${name} (${id})`];
  const again = `\`memsync link ${shellWord(dir)} --id ${id}\` has its memories again`;
  return [`${dir} was linked to another project before, ${name} (${id}): ${again}`];
}
