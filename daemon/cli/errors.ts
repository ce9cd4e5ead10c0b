/** Ends a command with exit status 1: it was understood and could not be done. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** Ends a command with exit status 2: it was used wrongly. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
