import { readFile } from "node:fs/promises";
import type { AppError } from "../../../shared/errors.ts";
import { fileFailure } from "../../../shared/file-failures.ts";
import { invalid } from "../../../shared/wire/parse.ts";

/** The text of a file with each of its bytes. Rejects with its path if there is none. */
export async function readSeedText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid([{ path, message: "is not UTF-8" }]);
  }
}

/** The refusal of a path at which nothing can be read. */
export function unreadable(path: string, thrown: unknown): AppError {
  return invalid([{ path, message: `can't be read: ${fileFailure(thrown)}` }]);
}
