/** How a write ended for the one who asked for it. */
export type WriteState = "asked" | "acknowledged" | "failed" | "in doubt";

/** One write of a key, or its deletion, by a person or program on one node. */
export interface MemoryWrite {
  readonly node: string;
  readonly document: string;
  readonly key: string;
  /** Of this write alone; undefined deletes the key. */
  readonly value: string | undefined;
  state: WriteState;
  /** It waits in an inbox: acknowledged, and not in the document yet. */
  waits: boolean;
  /** The service was put back to a copy that did not have it. */
  excused: boolean;
}

/** What one committed row did to one key. */
export interface KeyDiff {
  readonly node: string;
  readonly document: string;
  readonly key: string;
  readonly origin: "local" | "remote";
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/**
 * Knows every write of a memory, how it was answered, and which others it wrote over, and says what
 * must and what must not be seen of it.
 */
export class MemoryLedger {
  readonly #byValue = new Map<string, MemoryWrite>();
  readonly #writes: MemoryWrite[] = [];
  /** By value: the writes and deletions that saw it and replaced it. */
  readonly #replacedBy = new Map<string, MemoryWrite[]>();
  readonly #report: (problem: string) => void;

  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  ask(node: string, document: string, key: string, deletes: boolean): MemoryWrite {
    const value = deletes ? undefined : `${key} ${this.#writes.length} by ${node}`;
    const write: MemoryWrite = {
      node,
      document,
      key,
      value,
      state: "asked",
      waits: false,
      excused: false,
    };
    this.#writes.push(write);
    if (value !== undefined) this.#byValue.set(value, write);
    return write;
  }

  /** Saved for the daemon's next start, seeing what waits there already. */
  waitInInbox(write: MemoryWrite): void {
    for (const earlier of this.#waitingLike(write)) this.#replace(earlier.value, write);
    write.state = "acknowledged";
    write.waits = true;
  }

  /** What a process had been asked when it died may have been done or not. */
  nodeDied(node: string): void {
    for (const write of this.#writes) {
      if (write.node === node && write.state === "asked") write.state = "in doubt";
    }
  }

  /** What is written by `node` behind the first `count` writes may be gone; of one document. */
  excuse(node: string, count: number, document?: string): void {
    for (const write of this.#writes.slice(count)) {
      const isMeant = document === undefined || write.document === document;
      if (write.node === node && isMeant) write.excused = true;
    }
  }

  /** How many writes there were before the first one of `node` that is not answered yet. */
  answeredOf(node: string): number {
    const open = this.#writes.findIndex((write) => write.node === node && write.state === "asked");
    return open === -1 ? this.#writes.length : open;
  }

  /** To be told of every committed row. */
  committed(diff: KeyDiff): void {
    const { node, document, key, origin, removed, added } = diff;
    for (const value of added) this.#checkShown(node, document, key, value);
    if (origin === "remote") return;
    const author = this.#authorOf(diff);
    if (!author) {
      this.#report(`${node} changed ${document}/${key} and nobody there had asked for it`);
      return;
    }
    for (const value of removed) this.#replace(value, author);
  }

  /** What was committed right before a process died may be one of its writes in doubt. */
  found({ node, document, key, removed, added }: Omit<KeyDiff, "origin">): void {
    for (const value of added) this.#checkShown(node, document, key, value);
    const author = this.#writes.findLast((write) => {
      const isIts = write.node === node && write.document === document && write.key === key;
      const isOpen = write.state === "in doubt" || write.waits;
      return isIts && isOpen && isMadeBy(write, added);
    });
    if (author) for (const value of removed) this.#replace(value, author);
  }

  /** Everything in the inbox of a node is in its documents. */
  inboxDrained(node: string): void {
    for (const write of this.#writes) if (write.node === node) write.waits = false;
  }

  /** What waited in a node's inbox is gone, or will never be known to have waited. */
  inboxLost(node: string): void {
    for (const write of this.#writes) {
      if (write.node === node && write.waits) write.excused = true;
    }
  }

  /** `shown`: all values of a key, conflicts too, once everything is at rest. */
  checkAtRest(shown: (document: string, key: string) => readonly string[]): void {
    for (const write of this.#writes) {
      const { document, key, value, state, excused } = write;
      if (value === undefined) continue;
      const isShown = shown(document, key).includes(value);
      if (state === "acknowledged" && !excused && !isShown && !this.#isAccountedFor(write, shown)) {
        const others = this.#replacedBy.get(value)?.map((by) => `${nameOf(by)}, ${by.state}`) ?? [];
        this.#report(
          `the acknowledged write "${value}" in ${document} is lost; shown there: ` +
            `${JSON.stringify(shown(document, key))}; replaced by: ${others.join("; ")}`,
        );
      }
      const over = this.#replacedBy.get(value)?.find((by) => {
        return by.state === "acknowledged" && !by.excused;
      });
      if (isShown && over) this.#report(`"${value}" is shown, though ${nameOf(over)} replaced it`);
    }
  }

  #isAccountedFor(
    write: MemoryWrite,
    shown: (document: string, key: string) => readonly string[],
  ): boolean {
    const { document, key, value, state } = write;
    if (value === undefined) return state !== "failed";
    if (shown(document, key).includes(value)) return true;
    return this.#replacedBy.get(value)?.some((by) => this.#isAccountedFor(by, shown)) ?? false;
  }

  #checkShown(node: string, document: string, key: string, value: string): void {
    const write = this.#byValue.get(value);
    if (!write || write.document !== document || write.key !== key) {
      this.#report(`${node} shows "${value}" in ${document}/${key}, which nobody wrote there`);
    } else if (write.state === "failed") {
      this.#report(`${node} shows "${value}", whose write had failed`);
    }
  }

  #authorOf({ node, document, key, added }: KeyDiff): MemoryWrite | undefined {
    const [value] = added;
    if (value !== undefined) {
      const write = this.#byValue.get(value);
      return write?.node === node ? write : undefined;
    }
    return this.#writes.find((write) => {
      const isIts = write.node === node && write.document === document && write.key === key;
      return isIts && write.value === undefined && (write.state === "asked" || write.waits);
    });
  }

  #waitingLike({ node, document, key }: MemoryWrite): MemoryWrite[] {
    return this.#writes.filter((write) => {
      return write.waits && write.node === node && write.document === document && write.key === key;
    });
  }

  #replace(value: string | undefined, by: MemoryWrite): void {
    if (value === undefined) return;
    this.#replacedBy.set(value, [...(this.#replacedBy.get(value) ?? []), by]);
  }
}

function isMadeBy({ value }: MemoryWrite, added: readonly string[]): boolean {
  return value === undefined ? added.length === 0 : added.includes(value);
}

function nameOf({ node, key, value }: MemoryWrite): string {
  return value === undefined ? `the deletion of ${key} by ${node}` : `"${value}"`;
}
