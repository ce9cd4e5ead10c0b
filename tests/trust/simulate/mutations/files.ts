import { type Mutation, mutation } from "./mutation.ts";

/** In the files themselves. */
export const FILES: readonly Mutation[] = [
  mutation(
    "a file is not flushed before it gets its name",
    "a power cut at a file's renaming leaves the text of before or the new one, whole",
    "daemon/disk/twin-file.ts",
    "await handle.sync();",
    "",
  ),
  mutation(
    "a save is compared with the live text instead of its base",
    5,
    "daemon/files/state/file-edit.ts",
    "document.editText(text, next), seen)",
    "document.editText(text, next), document.captureText())",
  ),
];
