import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { askDatabase } from "./databases.ts";
import { itemsOf } from "./items.ts";
import type { Ledger } from "./ledger.ts";

interface LogRow {
  readonly id: string;
  readonly seq: string;
  readonly epoch: string;
  readonly payload: Uint8Array;
}

interface MemoryRow {
  readonly document_id: string;
  readonly key: string;
  readonly value: string;
  readonly ahead: string;
}

/** What a database has. */
export interface Found {
  /** Of all documents, by key. */
  readonly memories: ReadonlyMap<string, string>;
  /** Of the document that was written first. */
  readonly head: Position;
}

/** By how much a time may differ from the database's. */
const MINUTE_MS = 60_000;

/** Looks at what is in the databases, and remembers it for ever, whatever is lost of it. */
export class Audit {
  readonly #ledger: Ledger;
  /** By epoch, document and seq. */
  readonly #rows = new Map<string, string>();
  /** By document, client and clock. */
  readonly #items = new Map<string, string>();

  readonly #epochs = new Set<string>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** How many there have been. */
  get epochs(): number {
    return this.#epochs.size;
  }

  /** Checks a database, and says what it has. */
  async look(address: string): Promise<Found> {
    const [log, memories] = await askDatabase<[LogRow, MemoryRow]>(address, [
      `SELECT documents.id, updates.seq, epoch, payload FROM updates
      JOIN documents ON documents.id = document_id ORDER BY documents.id, updates.seq`,
      `SELECT document_id, key, value,
        extract(epoch FROM clock_timestamp()) * 1000 - updated_at AS ahead FROM memories`,
    ]);
    for (const [id, rows] of Map.groupBy(log, (row) => row.id)) {
      this.#checkLog(rows);
      this.#checkMemories(
        rows,
        memories.filter(({ document_id }) => document_id === id),
      );
    }
    const last = log.findLast(({ id }) => id === log[0]?.id);
    return {
      memories: new Map(memories.map(({ key, value }) => [key, value])),
      head: { epoch: last?.epoch ?? "", seq: Number(last?.seq ?? 0) },
    };
  }

  #checkLog(rows: readonly LogRow[]): void {
    for (const [at, { id, seq, epoch, payload }] of rows.entries()) {
      if (Number(seq) !== at + 1) this.#ledger.problem(`document ${id} has ${seq} for ${at + 1}`);
      this.#epochs.add(epoch);
      const text = Buffer.from(payload).toString("base64");
      const known = remember(this.#rows, `${epoch}/${id}/${seq}`, text);
      if (known !== text) this.#ledger.problem(`position ${seq} of one epoch means two rows`);
      for (const [item, content] of itemsIn(payload)) {
        const before = remember(this.#items, `${id}/${item}`, content);
        if (before !== content) this.#ledger.problem(`item ${item} is ${before}, and ${content}`);
      }
    }
  }

  #checkMemories(log: readonly LogRow[], rows: readonly MemoryRow[]): void {
    const document = new ReplicaDocument(
      log.map(({ payload }) => payload),
      1,
    );
    const wanted = [...document.memories.keys()].map((key) => {
      return [key, document.memories.get(key)[0]?.value];
    });
    const found = rows.map(({ key, value }) => [key, value]);
    if (JSON.stringify(wanted.sort()) !== JSON.stringify(found.sort())) {
      this.#ledger.problem(`rows are ${JSON.stringify(found)}, and not ${JSON.stringify(wanted)}`);
    }
    const odd = rows.find(({ ahead }) => Math.abs(Number(ahead)) > MINUTE_MS);
    if (odd) this.#ledger.problem(`${odd.key} was not written by the database's clock`);
  }
}

/** What is known under a name, which is `value` where nothing was. */
function remember(known: Map<string, string>, name: string, value: string): string {
  const before = known.get(name);
  if (before === undefined) known.set(name, value);
  return before ?? value;
}

/** Each element that an update adds, by client and clock. */
function itemsIn(payload: Uint8Array): [string, string][] {
  return itemsOf(payload).flatMap(({ id: { client, clock }, content }) => {
    const elements: unknown[] = content.getContent();
    return elements.map((each, at): [string, string] => {
      return [`${client}/${clock + at}`, JSON.stringify(each) ?? ""];
    });
  });
}
