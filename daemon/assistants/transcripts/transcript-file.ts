import type { ReadLine } from "./session-facts.ts";

/** A file in which an assistant keeps a session. */
export interface TranscriptFile {
  /** Absolute. */
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  readonly inode: string;
  /** `lines`: it is appended to, line by line. The others are read as a whole when they change. */
  readonly form: "lines" | "json" | "zstd-lines";
  /** The assistant's own id of the session, where the file's name tells it. */
  readonly id?: string;
  /** The folder in which the session began, where the file's place tells it. */
  readonly cwd?: string;
}

/** One assistant's sessions on this machine. */
export interface SessionSource {
  /** `source` of its records. */
  readonly name: string;
  readonly readLine: ReadLine;
  /** The files that there are now. Empty where the assistant is not in use. */
  list(): Promise<TranscriptFile[]>;
  /** Titles that are kept beside the transcripts, by the assistant's own id. */
  titles?(): Promise<ReadonlyMap<string, string>>;
}
