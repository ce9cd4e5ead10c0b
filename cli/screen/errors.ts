import { AppError, messageOf } from "../../shared/errors.ts";
import { storageFailure } from "../../shared/sqlite/failures.ts";

/** Ends a command with exit status 1: it was understood and could not be done. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** Ends a command as another one ended that it has run; nothing more is to be said. */
export class CommandEnded extends Error {
  override readonly name = "CommandEnded";

  constructor(readonly status: number) {
    super(`ended with ${status}`);
  }
}

/** Ends a command with exit status 2: it was used wrongly. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What `parse` makes of something that was typed; its refusal is wrong use. */
export function typed<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (thrown) {
    throw thrown instanceof AppError ? new UsageError(thrown.message) : thrown;
  }
}

/** What to say of anything that was thrown and is no refusal. */
export function unforeseen(thrown: unknown): string {
  // A system's call says which file it is about; SQLite does not.
  const namesItsFile = thrown instanceof Error && "path" in thrown;
  return (namesItsFile ? undefined : storageFailure(thrown)) ?? messageOf(thrown);
}
