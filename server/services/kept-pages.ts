import { assert } from "../../shared/errors.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import type { Memory } from "../../shared/wire/memory.ts";
import type { MemoryFilter } from "../stores/memory-store.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Page, PageRequest } from "./services.ts";

/** Pages kept for their next reader; what they take in memory is an estimate. */
const KEPT_PAGES_MAX = 512;
const KEPT_BYTES_MAX = 8 * 1024 * 1024;

/** What a memory takes besides its key and content, as objects and as JSON. */
const MEMORY_OVERHEAD_BYTES = 600;

/** The documents of one list: a project's, the user's and the account's. */
const DOCUMENTS_MAX = 3;

type Db = ServiceStore["reader"];

interface Kept {
  readonly marks: string;
  readonly page: Page<Memory>;
  readonly bytes: number;
}

/**
 * Pages of memories that are given again, as the same object, for as long as the documents they
 * were made from stand where they stood: each use asks the database for the documents' positions,
 * so that a page is never older than the last acknowledged write, whoever wrote.
 */
export class KeptPages {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /**
   * A page of what `filter` selects, which `make` reads. Who may see which documents is decided
   * before, at each use: `filter` names them, and nothing else of the asker is looked at.
   */
  async get(
    db: Db,
    filter: MemoryFilter,
    { limit, cursor }: PageRequest,
    make: () => Promise<Page<Memory>>,
  ): Promise<Page<Memory>> {
    const key = JSON.stringify([filter.account, filter.documents, limit, cursor]);
    // Before the page is read: a commit in between makes it newer than its marks, never older.
    const marks = await marksOf(db, filter);
    const known = this.#kept.get(key);
    if (known?.marks === marks) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known.page;
    }
    const page = await make();
    this.#keep(key, { marks, page, bytes: bytesOf(page) });
    return page;
  }

  #keep(key: string, kept: Kept): void {
    this.#drop(key);
    if (kept.bytes > KEPT_BYTES_MAX / 4) return;
    this.#kept.set(key, kept);
    this.#bytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_PAGES_MAX && this.#bytes <= KEPT_BYTES_MAX) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

function bytesOf(page: Page<Memory>): number {
  let bytes = MEMORY_OVERHEAD_BYTES;
  for (const { key, content } of page.items) {
    bytes += 2 * (key.length + content.length) + MEMORY_OVERHEAD_BYTES;
  }
  return bytes;
}

/** Where the documents stand, as a text: a document is equal where its id, epoch and row are. */
async function marksOf(db: Db, { account, documents }: MemoryFilter): Promise<string> {
  assert(documents.length <= DOCUMENTS_MAX, "a list looks in a document of each layer at most");
  const [one = "", two = "", three = ""] = documents;
  const rows = await findMarks(db, account, one, two, three);
  return rows.map(({ id, epoch, seq }) => `${id} ${epoch} ${seq}`).join("\n");
}

const findMarks = compiled((db: Db, owner: string, one: string, two: string, three: string) =>
  db
    .selectFrom("documents")
    .select((select) => [
      "id",
      "seq",
      select
        .selectFrom("epochs")
        .select("epoch")
        .whereRef("epochs.document_id", "=", "documents.id")
        .orderBy("first_seq", "desc")
        .limit(1)
        .as("epoch"),
    ])
    .where("owner", "=", owner)
    .where("name", "in", [one, two, three])
    .orderBy("id"),
);
