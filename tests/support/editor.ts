import { rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** How programs write a whole file. */
export type SaveStyle = "in place" | "by rename";

export const SAVE_STYLES: readonly SaveStyle[] = ["in place", "by rename"];

/** Saves as an editor does whose buffer holds `content`, whatever the file holds meanwhile. */
export async function save(path: string, content: string, style: SaveStyle): Promise<void> {
  if (style === "in place") {
    await writeFile(path, content);
    return;
  }
  const temporary = join(dirname(path), `.${process.pid}.edited`);
  await writeFile(temporary, content);
  await rename(temporary, path);
}
