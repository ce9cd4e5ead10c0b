/** Fields of one log line. Never contains a token or a memory's text. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured logging, passed to whatever needs it. The real programs pass `pino`. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Discards everything. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
