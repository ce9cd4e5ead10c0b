import { isDeletion } from "./standing.ts";

/** How a write ended for the one who asked for it. */
export type WriteState = "asked" | "acknowledged" | "failed" | "in doubt";

/** One write of a key, or its deletion, by a person or program on one node. */
export interface MemoryWrite {
  readonly node: string;
  readonly document: string;
  readonly key: string;
  /** Of this write alone; undefined deletes the key. */
  readonly value: string | undefined;
  /** What tells of it, of a deletion that was done. */
  deletion?: string;
  /** Of a deletion: the write of the memory in the place that it was moved to. */
  readonly moved: MemoryWrite | undefined;
  state: WriteState;
  /** It waits in an inbox: acknowledged, and not in the document yet. */
  waits: boolean;
  /** The service was put back to a copy that did not have it. */
  excused: boolean;
}

/** What one committed row did to one key: to its values, and to the deletions that are told. */
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
  /** By value, and by what tells of a deletion. */
  readonly #byValue = new Map<string, MemoryWrite>();
  readonly #writes: MemoryWrite[] = [];
  /** By value: the writes and deletions that saw it and replaced it. */
  readonly #replacedBy = new Map<string, MemoryWrite[]>();
  readonly #report: (problem: string) => void;

  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  ask(
    node: string,
    document: string,
    {
      key,
      deletes,
      moved,
    }: Pick<MemoryWrite, "key"> & {
      readonly deletes: boolean;
      readonly moved?: MemoryWrite | undefined;
    },
  ): MemoryWrite {
    const value = deletes ? undefined : `${key} ${this.#writes.length} by ${node}`;
    const write: MemoryWrite = {
      node,
      document,
      key,
      value,
      moved,
      state: "asked",
      waits: false,
      excused: false,
    };
    this.#writes.push(write);
    if (value !== undefined) this.#byValue.set(value, write);
    return write;
  }

  /** How many writes there were. */
  get count(): number {
    return this.#writes.length;
  }

  /** The deletions of memories that were moved, as far as they are told. */
  moves(): readonly (MemoryWrite & { readonly deletion: string; readonly moved: MemoryWrite })[] {
    return this.#writes.flatMap((write) => {
      const { deletion, moved } = write;
      return deletion !== undefined && moved ? [{ ...write, deletion, moved }] : [];
    });
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
    const author = origin === "local" ? this.#authorOf(diff) : undefined;
    if (author) this.#tell(author, added);
    for (const value of added) this.#checkShown(node, document, key, value);
    if (origin === "remote") return;
    if (!author) {
      this.#report(`${node} changed ${document}/${key} and nobody there had asked for it`);
      return;
    }
    if (author.value === undefined && author.deletion === undefined) {
      this.#report(`nothing tells of the ${nameOf(author)} in ${document}`);
    }
    for (const value of removed) this.#replace(value, author);
  }

  /** Notes what tells of a deletion: from now on it is looked for as a value is. */
  #tell(write: MemoryWrite, added: readonly string[]): void {
    const deletion = added.find(isDeletion);
    if (write.value !== undefined || deletion === undefined) return;
    write.deletion = deletion;
    this.#byValue.set(deletion, write);
  }

  /** What was committed right before a process died may be one of its writes in doubt. */
  found({ node, document, key, removed, added }: Omit<KeyDiff, "origin">): void {
    const isNew = (each: string) => !isDeletion(each) || !this.#byValue.has(each);
    const author = this.#writes.findLast((write) => {
      const isIts = write.node === node && write.document === document && write.key === key;
      const isOpen = write.state === "in doubt" || write.waits;
      return isIts && isOpen && isMadeBy(write, added.filter(isNew));
    });
    if (author) this.#tell(author, added.filter(isNew));
    for (const value of added) this.#checkShown(node, document, key, value);
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

  /**
   * `standing`: all values of a key, conflicts too, and all deletions that are told, once all is at
   * rest.
   */
  checkAtRest(standing: (document: string, key: string) => readonly string[]): void {
    for (const write of this.#writes) {
      const { document, key, state, excused } = write;
      const mark = markOf(write);
      if (mark === undefined) continue;
      const isShown = standing(document, key).includes(mark);
      const isDone = state === "acknowledged" && !excused;
      if (isDone && !isShown && !this.#isAccountedFor(write, standing)) {
        const others = this.#replacedBy.get(mark)?.map((by) => `${nameOf(by)}, ${by.state}`) ?? [];
        this.#report(
          `the acknowledged ${nameOf(write)} in ${document} is lost; standing there: ` +
            `${JSON.stringify(standing(document, key))}; replaced by: ${others.join("; ")}`,
        );
      }
      const over = this.#replacedBy.get(mark)?.find((by) => {
        return by.state === "acknowledged" && !by.excused;
      });
      if (isShown && over) {
        this.#report(`${nameOf(write)} is shown, though ${nameOf(over)} replaced it`);
      }
    }
  }

  #isAccountedFor(
    write: MemoryWrite,
    standing: (document: string, key: string) => readonly string[],
  ): boolean {
    const { document, key, state } = write;
    const mark = markOf(write);
    if (mark === undefined) return state !== "failed";
    if (standing(document, key).includes(mark)) return true;
    return this.#replacedBy.get(mark)?.some((by) => this.#isAccountedFor(by, standing)) ?? false;
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
    const value = added.find((each) => !isDeletion(each));
    if (value !== undefined) {
      const write = this.#byValue.get(value);
      return write?.node === node ? write : undefined;
    }
    return this.#writes.find((write) => {
      const isIts = write.node === node && write.document === document && write.key === key;
      const isOpen = write.deletion === undefined && (write.state === "asked" || write.waits);
      return isIts && write.value === undefined && isOpen;
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
  return value === undefined ? added.some(isDeletion) : added.includes(value);
}

/** What is to be seen of a write, or of a deletion that was done. */
function markOf({ value, deletion }: MemoryWrite): string | undefined {
  return value ?? deletion;
}

function nameOf({ node, key, value }: MemoryWrite): string {
  return value === undefined ? `deletion of ${key} by ${node}` : `write "${value}"`;
}
