/** What an assistant keeps of one session: a file, or a row of its database. */
export interface TranscriptFile {
  /** Absolute. That of a row is its database's, `#` and the session's id. */
  readonly path: string;
  /** In bytes; of a row, how many messages there are. */
  readonly size: number;
  readonly modifiedMs: number;
  readonly inode: string;
  /** `lines`: it is appended to, line by line. The others are read as a whole when they change. */
  readonly form: "lines" | "json" | "zstd-lines" | "row";
  /** The assistant's own id of the session, where the file's name tells it. */
  readonly id?: string;
  /** The folder in which the session began, where the file's place tells it. */
  readonly cwd?: string;
}
