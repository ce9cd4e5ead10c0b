import { messageOf } from "../../shared/errors.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { sayAside } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";

/** How many repositories are examined at the same time. */
const LINKED_AT_ONCE = 4;

/** What became of a batch; a folder in neither list was linked. */
interface Batch {
  readonly failed: readonly { readonly folder: string; readonly thrown: unknown }[];
  readonly untried: readonly string[];
}

/**
 * Links folders in order, a few at a time. Rejects with the first failure once those under way have
 * ended. Later ones are not begun; which were linked and which were not is said. On a terminal a
 * bar shows how many are linked; `link` prints nothing, and is told whether more follow.
 */
export async function linkFolders(
  folders: readonly string[],
  link: (folder: string, more: boolean) => Promise<unknown>,
): Promise<void> {
  let done = 0;
  const counts = () => ({ done, total: folders.length });
  const linked = (folder: string, more: boolean) => link(folder, more).then(() => ++done);
  const work = { unit: "folders", counts };
  const { failed, untried } = await shownWhile("linking", linkAll(folders, linked), work);
  const [first, ...others] = failed;
  if (!first) return;
  if (folders.length > 1) sayHalf(folders, { failed, untried });
  for (const { folder, thrown } of others) {
    sayAside(`${folder} was not linked: ${messageOf(thrown)}`);
  }
  throw first.thrown;
}

/** Says what was linked and what was not, before the error. Both lists can be typed again. */
function sayHalf(folders: readonly string[], { failed, untried }: Batch): void {
  const left = [...failed.map(({ folder }) => folder), ...untried];
  const linked = folders.filter((folder) => !left.includes(folder));
  const words = (some: readonly string[]) => some.map(shellWord).join(" ");
  if (linked.length > 0) sayAside(`linked: ${words(linked)}`);
  sayAside(`not linked: ${words(left)}`);
}

async function linkAll(
  folders: readonly string[],
  link: (folder: string, more: boolean) => Promise<unknown>,
): Promise<Batch> {
  const left = [...folders];
  const failed: { readonly folder: string; readonly thrown: unknown }[] = [];
  let untried: readonly string[] = [];
  const work = async () => {
    for (let folder = left.shift(); folder !== undefined; folder = left.shift()) {
      try {
        await link(folder, left.length > 0);
      } catch (thrown) {
        failed.push({ folder, thrown });
        untried = [...untried, ...left.splice(0)];
      }
    }
  };
  await Promise.all(Array.from({ length: LINKED_AT_ONCE }, work));
  return { failed, untried };
}
