/** Fields of one log line. Never contains a token or a memory's text. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/** Structured logging, passed to whatever needs it. The real programs pass `pino`. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Discards everything. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Writes each text of a line as `hide` leaves it. */
export function hidingLog(log: Log, hide: (text: string) => string): Log {
  const hidden = (fields: LogFields): LogFields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        if (typeof value === "string") return [name, hide(value)];
        return [name, typeof value === "object" && value !== null ? value.map(hide) : value];
      }),
    );
  return {
    debug: (fields, message) => log.debug(hidden(fields), message),
    info: (fields, message) => log.info(hidden(fields), message),
    warn: (fields, message) => log.warn(hidden(fields), message),
    error: (fields, message) => log.error(hidden(fields), message),
  };
}
