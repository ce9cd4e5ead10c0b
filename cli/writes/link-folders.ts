import { shownWhile } from "../screen/shown-while.ts";

/** How many repositories are examined at the same time. */
const LINKED_AT_ONCE = 4;

/**
 * Links folders in order, a few at a time. Rejects with the first failure once those under way have
 * ended. Later ones are not begun. On a terminal a bar shows how many are linked; `link` prints
 * nothing, and is told whether more follow.
 */
export async function linkFolders(
  folders: readonly string[],
  link: (folder: string, more: boolean) => Promise<unknown>,
): Promise<void> {
  let done = 0;
  const counts = () => ({ done, total: folders.length });
  const linked = (folder: string, more: boolean) => link(folder, more).then(() => ++done);
  await shownWhile("linking", linkAll(folders, linked), { unit: "folders", counts });
}

async function linkAll(
  folders: readonly string[],
  link: (folder: string, more: boolean) => Promise<unknown>,
): Promise<void> {
  const left = [...folders];
  const failures: unknown[] = [];
  const work = async () => {
    for (let folder = left.shift(); folder !== undefined; folder = left.shift()) {
      try {
        await link(folder, left.length > 0);
      } catch (thrown) {
        failures.push(thrown);
        left.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: LINKED_AT_ONCE }, work));
  if (failures.length > 0) throw failures[0];
}
