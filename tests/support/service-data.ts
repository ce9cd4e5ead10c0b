import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether a text stands anywhere in the files of a folder, databases and their logs included. */
export function holdsText(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => {
    return entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text);
  });
}
