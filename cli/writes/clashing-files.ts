import { TakenNames } from "../../daemon/assistants/memory-folders/memory-names.ts";
import type { ScannedFolder } from "../../daemon/assistants/memory-folders/scan-memory-folders.ts";
import type { AskedMemoryFile } from "../../daemon/home/memory-files.ts";

/** A file that is missing here, and the one whose name it has on some systems. */
interface ClashingFile {
  readonly file: AskedMemoryFile;
  readonly other: string;
}

/**
 * Finds the missing files that would not be brought back: some system takes their name for that of
 * a file that is there, or is brought back before them. A project's folder goes to all systems.
 */
export function clashingFiles(
  asked: readonly AskedMemoryFile[],
  folders: readonly Pick<ScannedFolder, "path" | "files">[],
): ClashingFile[] {
  return folders.flatMap(({ path, files }) => {
    const taken = new TakenNames(
      files.flatMap(({ name, bytes }) => (bytes === null ? [] : [name])),
    );
    const missing = asked.filter(({ folder, asked: why }) => folder === path && why === "missing");
    missing.sort((one, other) => (one.name < other.name ? -1 : 1));
    return missing.flatMap((file) => {
      const other = taken.clashOf(file.name);
      if (other !== undefined) return [{ file, other }];
      taken.take(file.name);
      return [];
    });
  });
}
