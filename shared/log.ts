/** Fields of one log line. Never a token, never a memory's text. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured logging, given to whatever needs it; `pino` satisfies it in the real programs. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Discards everything. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
