import { AppError } from "../../shared/errors.ts";

/**
 * Ends a command with exit status 1: it was understood but could not be done. `further`: lines
 * below the sentence.
 */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";

  constructor(
    message: string,
    readonly further: readonly string[] = [],
  ) {
    super(message);
  }
}

/** Ends a command with the exit status of another one that it ran, without a message. */
export class CommandEnded extends Error {
  override readonly name = "CommandEnded";

  constructor(readonly status: number) {
    super(`ended with ${status}`);
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
