import type { Act, Reader } from "./reader.ts";

/** What has to be there before the commands of a document are typed, and how they are run. */
export interface Scene {
  readonly document: string;
  stage(reader: Reader): Promise<void>;
  readonly acts: readonly Act[];
  /** What is in commands that are typed before all others, where a document has its own order. */
  readonly first?: readonly string[];
}
