import { AppError, messageOf, RateLimited } from "../errors.ts";

/**
 * SQLSTATEs after which the same transaction may succeed
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const AGAIN = new Set(["40001", "40P01"]);

/** What a database says that has too much to do, and what that means. Clients are told less. */
const TOO_BUSY: Readonly<Record<string, string>> = {
  "53400": "a limit of the database's configuration was reached: its log says which",
  "55P03":
    "another transaction has held for 15 seconds what this waits for: see pg_stat_activity and " +
    "pg_blocking_pids(), and try again when it has ended",
  "57014": "a statement took longer than 30 seconds, or was cancelled: try again later",
  "25P03": "a transaction stood still for ten seconds, and was ended: try again later",
};

/** What a database says that has as many connections as it may have. */
const TOO_MANY_CONNECTIONS = "53300";

const TOO_MUCH = "the server has too much to do: try again later";

const NOTHING_SAVED = "nothing of this was saved";

/** The sentence about a database whose disk is full. */
export const DISK_FULL = `the database's disk is full: make room there; ${NOTHING_SAVED}`;

/** For how long a client is asked to wait where the database has too much to do. */
const RETRY_AFTER_SECONDS = 2;

/**
 * What is wrong with a database, in a sentence that tells who runs the server what to do; it may
 * name addresses and users, and is for no client. `cause` is the driver's.
 */
export class DatabaseFailure extends AppError {
  constructor(message: string, cause?: unknown) {
    super("internal", message);
    this.cause = cause;
  }

  override get told(): string {
    return "the server can't use its database now; its log says more under this request id";
  }
}

/** The database has no room. A client is told what it is told where the database is a file. */
class DiskFull extends DatabaseFailure {
  constructor(cause: unknown) {
    super(DISK_FULL, cause);
  }

  override get told(): string {
    return `the disk is full: make room and try again; ${NOTHING_SAVED}`;
  }
}

/**
 * The sentence for commits that wait for a synchronous standby: each further one would wait, too.
 */
export const STANDBY_LOST =
  "commits wait for the database's synchronous standby, which does not answer: see that it " +
  "runs, or take it out of synchronous_standby_names";

/** The sentence for a commit that was given up while it waited for that standby. */
export const COMMIT_HELD_UP =
  "this waits for the database's synchronous standby, which does not answer, and is saved once " +
  "it does: see that it runs, or take it out of synchronous_standby_names, and look before you " +
  "repeat this";

/** The sentence for a removal in several steps of which one was given up so. */
export const REMOVAL_HELD_UP =
  "this waits for the database's synchronous standby, which does not answer, and is not done: " +
  "tokens are revoked once it does, but contents may still be there. See that it runs, or take " +
  "it out of synchronous_standby_names, and then repeat this";

/**
 * A commit whose outcome nobody knows. The database may have it or not, so what is in memory may
 * differ.
 */
export class UnknownOutcome extends DatabaseFailure {
  constructor(cause: unknown) {
    super(
      "the database was lost while it committed, and whether this was saved is not known: look " +
        "before you repeat it",
      cause,
    );
  }

  override get told(): string {
    return this.message;
  }
}

/** The database opens no further connection. Those that are open go on. */
export class NoConnectionLeft extends RateLimited {
  constructor(cause: unknown) {
    super(
      `the database gives no further connection (${messageOf(cause)}): raise its ` +
        "max_connections, of which each server takes twelve, or end others",
      RETRY_AFTER_SECONDS,
    );
    this.cause = cause;
  }

  override get told(): string {
    return TOO_MUCH;
  }
}

/** Whether a transaction that failed with this may be tried again as it is. */
export function isToBeRepeated(thrown: unknown): boolean {
  return AGAIN.has(stateOf(thrown));
}

/** Whether a statement failed only because one before it did, in the same transaction. */
export function isConsequence(thrown: unknown): boolean {
  return stateOf(thrown) === "25P02";
}

/** Whether the connection itself is gone, so that nobody knows what became of a commit. */
export function isConnectionLost(thrown: unknown): boolean {
  const state = stateOf(thrown);
  if (/^(08|57P0|25P03)/.test(state) || UNREACHABLE.test(state)) return true;
  return isUnanswered(thrown) || LOST.test(messageOf(causeOf(thrown)));
}

const LOST = /^(Connection terminated|Client has encountered a connection error|timeout expired)/;

/** Whether the database was silent for too long; the connection is given up then. */
export function isUnanswered(thrown: unknown): boolean {
  return messageOf(causeOf(thrown)) === "Query read timeout";
}

/**
 * Whether a connection was found dead at once. A silent one is another matter: it was waited for,
 * and is not asked again.
 */
export function isConnectionDead(thrown: unknown): boolean {
  return isConnectionLost(thrown) && !isUnanswered(thrown);
}

/** Whether no connection came free in time. */
export function isWaitOver(thrown: unknown): boolean {
  return messageOf(thrown) === "timeout exceeded when trying to connect";
}

/** The database has too much to do, or somebody holds it up. */
class DatabaseBusy extends RateLimited {
  constructor(why: string, cause: unknown) {
    super(why, RETRY_AFTER_SECONDS);
    this.cause = cause;
  }

  override get told(): string {
    return TOO_MUCH;
  }
}

/** The refusal while there is too much to do already. */
export function tooBusy(): RateLimited {
  return new RateLimited(TOO_MUCH, RETRY_AFTER_SECONDS);
}

/** Codes of Node's sockets. */
const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/;

/**
 * The error to show for one of the driver's: an expected one gets our sentence, any other stays.
 */
export function foreseen(thrown: unknown): unknown {
  if (thrown instanceof AppError) return thrown;
  const state = stateOf(thrown);
  if (state === TOO_MANY_CONNECTIONS) return new NoConnectionLeft(thrown);
  const why = TOO_BUSY[state];
  if (why !== undefined) return new DatabaseBusy(why, thrown);
  if (isDiskFull(thrown)) return new DiskFull(thrown);
  const sentence = sentenceOf(thrown);
  return sentence === undefined ? thrown : new DatabaseFailure(sentence, thrown);
}

/** Codes for a table, a column, a function and any other thing that is there already. */
const ALREADY_THERE: ReadonlySet<string | undefined> = new Set([
  "42P07",
  "42701",
  "42723",
  "42710",
]);

/** A prepared statement is there that nobody here has made, or is gone. */
const NOT_ITS_OWN = new Set(["42P05", "26000"]);

function sentenceOf(thrown: unknown): string | undefined {
  const state = stateOf(thrown);
  if (isNameUnknown(thrown)) {
    const way = "a server's log, or its start, says what is missing, and what brings it back";
    return `the database lacks a part of its schema (${messageOf(thrown)}): ${way}`;
  }
  if (ALREADY_THERE.has(state)) {
    const way =
      "name an empty database, or a schema of memsync's own. Where these are memsync's tables, " +
      "rows of schema_migrations are missing: put the whole of a backup into an empty database";
    return `the database has something by a name of memsync's (${messageOf(thrown)}): ${way}`;
  }
  if (state === "25006") {
    return `${READ_ONLY}; ${NOTHING_SAVED}`;
  }
  if (state === "42501") {
    const reason = messageOf(thrown);
    const way =
      "GRANT it, or make the user the owner of the database and of all of memsync's tables";
    return `the database's user lacks a right (${reason}): ${way}; ${NOTHING_SAVED}`;
  }
  if (state.startsWith("28")) {
    const reason = messageOf(thrown);
    return `the database refuses the user or the password (${reason}): see --database-url`;
  }
  if (state === "3D000") {
    return `${messageOf(thrown)}: make it with \`createdb\`, or name another by --database-url`;
  }
  if (NOT_ITS_OWN.has(state)) return POOLED;
  if (state === "08P01" && /unsupported startup parameter/.test(messageOf(thrown))) return POOLED;
  if (isUnanswered(thrown)) return UNANSWERED;
  const ofTls = tlsSentence(thrown);
  if (ofTls !== undefined) return ofTls;
  if (isConnectionLost(thrown)) {
    const reason = messageOf(thrown);
    return `the database can't be reached (${reason}): see that it runs, and --database-url`;
  }
  return undefined;
}

/** A table, a column, a function or a constraint that is not there. */
const UNKNOWN_NAME = new Set(["42P01", "42703", "42883", "42P10"]);

/** Whether a statement names what is not there. */
export function isNameUnknown(thrown: unknown): boolean {
  return UNKNOWN_NAME.has(stateOf(thrown));
}

/** What to do where a table, a column or a row is missing. */
export const WHOLE_BACKUP =
  "take back what was renamed or moved; where a backup was put back in part, put the whole of it " +
  "into an empty database";

/** Whether the database's disk has no room for what was written. */
export function isDiskFull(thrown: unknown): boolean {
  return stateOf(thrown) === "53100";
}

/** What is wrong with a connection that has to be encrypted. */
function tlsSentence(thrown: unknown): string | undefined {
  const reason = messageOf(causeOf(thrown));
  if (/^The server does not support SSL connections/.test(reason)) {
    return "the database takes no TLS: set `ssl = on` there, or leave `sslmode` out of its address";
  }
  if (/^ERR_TLS_CERT_ALTNAME/.test(stateOf(thrown))) {
    return `the database's certificate is another host's (${reason}): name the host that it is of`;
  }
  if (CERTIFICATE.test(stateOf(thrown))) {
    const way = "name its authority's by `sslrootcert` in the address";
    return `the database's certificate is not trusted (${reason}): ${way}`;
  }
  if (isFileMissing(causeOf(thrown))) {
    return `a file that the database's address names can't be read (${reason})`;
  }
  return undefined;
}

/** Node's codes of certificates, which are OpenSSL's. */
const CERTIFICATE = /SELF_SIGNED|^CERT_|UNABLE_TO_(GET|VERIFY|DECRYPT)_|^ERR_(OSSL|SSL)/;

/**
 * Whether the file of an authority's certificate is missing; a socket's may be missing, too, and
 * says the same.
 */
function isFileMissing(cause: unknown): boolean {
  return cause instanceof Error && "syscall" in cause && cause.syscall === "open";
}

/** The sentence for a database that may be running and does not answer. */
export const UNANSWERED =
  "the database does not answer: see that its machine runs, and the network to it";

/** The sentence for a database that takes no writes. */
export const READ_ONLY =
  "the database can only be read (a standby, or default_transaction_read_only): name the " +
  "primary's address by --database-url";

/** The sentence for a pooler in between, through which a session's settings don't last. */
export const POOLED =
  "the database's address is that of a pooler in transaction mode, through which nobody can " +
  "listen and no setting lasts: name PostgreSQL's own address by --database-url, or a pooler in " +
  "session mode that lets `options` through";

/** The driver's error, which one of ours has as its cause. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof DatabaseFailure ? thrown.cause : thrown;
}

function stateOf(thrown: unknown): string {
  const cause = causeOf(thrown);
  if (!(cause instanceof Error)) return "";
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  // An AggregateError: several addresses of one name were tried.
  return cause instanceof AggregateError ? stateOf(cause.errors[0]) : "";
}
