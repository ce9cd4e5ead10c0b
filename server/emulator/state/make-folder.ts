import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * A folder with all that it is in, where they are not there yet. Node's own recursive `mkdir` never
 * ends where nothing can be made, as in `/proc`.
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  if (await isFolder(folder)) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), mode);
  await mkdir(folder, { mode }).catch(async (thrown: unknown) => {
    // Another process may have made it meanwhile.
    if (!(await isFolder(folder))) throw thrown;
  });
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
