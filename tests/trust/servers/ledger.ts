/** One row of a document's log, as a statement has written it. */
export interface WrittenRow {
  readonly epoch: string;
  /** Whether a server has made it of a call's plain fields. */
  readonly isOwn: boolean;
  readonly payload: Uint8Array;
}

/** What the statements of all servers say, and what is wrong with it. */
export class Ledger {
  readonly problems: string[] = [];
  /** Updates whose COMMIT has returned. */
  readonly #committed = new Set<string>();
  /** Those whose transaction stands before its COMMIT. */
  readonly #held = new Set<string>();

  problem(text: string): void {
    this.problems.push(text);
  }

  hold(rows: readonly WrittenRow[]): void {
    for (const { payload } of rows) this.#held.add(named(payload));
  }

  /** The database has ended their transaction. */
  ended(rows: readonly WrittenRow[]): void {
    for (const { payload } of rows) this.#held.delete(named(payload));
  }

  committed(rows: readonly WrittenRow[], isEased: boolean): void {
    for (const { payload } of rows) {
      this.#held.delete(named(payload));
      this.#committed.add(named(payload));
    }
    if (isEased && rows.length > 0) this.problem("rows were committed that the disk may not have");
  }

  /** Somebody has heard an update over a live socket. */
  heard(update: Uint8Array): void {
    if (!this.#committed.has(named(update))) this.problem("a frame tells what is not committed");
  }

  /** Somebody tells other servers of commits. */
  hinted(): void {
    if (this.#held.size > 0) this.problem("a hint was sent before its commit");
  }
}

function named(payload: Uint8Array): string {
  return Buffer.from(payload).toString("base64");
}
