import { AppError } from "../../shared/errors.ts";
import type { FailureCode } from "./failure-codes.ts";

type FailureFacts = Pick<CommandFailed, "further" | "code" | "status">;

/**
 * Ends a command with exit status 1, or another one of its own: it was understood but could not be
 * done. `further`: lines below the sentence.
 */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly further: readonly string[];
  /** What `--json` prints of it, for programs. */
  readonly code: FailureCode;
  readonly status: number;

  constructor(
    message: string,
    { further = [], code = "failed", status = 1 }: Partial<FailureFacts> = {},
  ) {
    super(message);
    this.status = status;
    this.further = further;
    this.code = code;
  }
}

/** Ends a command with an exit status of its own, as that of another one that it ran. */
export class CommandEnded extends Error {
  override readonly name = "CommandEnded";

  constructor(
    readonly status: number,
    /** The sentence to print, if there is one. */
    readonly sentence?: string,
  ) {
    super(sentence ?? `ended with ${status}`);
  }
}

/** Ends a command with exit status 2: wrong usage. `further`: lines below the sentence. */
export class UsageError extends Error {
  override readonly name = "UsageError";

  constructor(
    message: string,
    readonly further: readonly string[] = [],
  ) {
    super(message);
  }
}

/** Parses something that was typed. A refusal counts as wrong usage. */
export function typed<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (thrown) {
    throw thrown instanceof AppError ? new UsageError(thrown.message) : thrown;
  }
}
