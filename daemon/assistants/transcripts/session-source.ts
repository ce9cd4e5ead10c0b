import type { TranscriptState } from "./read-transcript.ts";
import type { Retention } from "./retention.ts";
import type { TranscriptFile } from "./transcript-file.ts";

/** One assistant's sessions on this machine. */
export interface SessionSource {
  /** `source` of its records. */
  readonly name: string;
  /** The transcripts that there are now. Empty where the assistant is not in use. */
  list(): Promise<TranscriptFile[]>;
  /** What a transcript tells, read on from `state`. Rejects where it can't be read. */
  read(file: TranscriptFile, state: TranscriptState | undefined): Promise<TranscriptState>;
  /** Titles that are kept beside the transcripts, by the assistant's own id. */
  titles?(): Promise<ReadonlyMap<string, string>>;
  /** What it deletes by itself, as its settings say now; nothing where it deletes none. */
  retention?(): Promise<Retention | undefined>;
}
