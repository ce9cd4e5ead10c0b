import { assert } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import type { Memory } from "../../shared/wire/memory.ts";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Page, PageRequest } from "./services.ts";

/** This many pages are kept. Their size in memory is an estimate. */
const KEPT_PAGES_MAX = 512;
const KEPT_BYTES_MAX = 8 * 1024 * 1024;

/** The size of a memory besides its key and content, as an object and as JSON. */
const MEMORY_OVERHEAD_BYTES = 600;

/** The documents of one list: those of a project, the user and the account. */
const DOCUMENTS_MAX = 3;

type Db = ServiceStore["reader"];

interface Kept {
  readonly marks: string;
  readonly serial: number;
  /** Undefined: the page was too large to be kept, and was collected. */
  readonly page: () => Page<Memory> | undefined;
  readonly bytes: number;
}

/** A page that is being read, and since which state of the documents. */
interface Making {
  readonly marks: string;
  readonly page: Promise<Page<Memory>>;
}

/** A page with its question. */
interface Answered {
  readonly filter: MemoryFilter;
  readonly request: PageRequest;
  readonly page: Page<Memory>;
}

/**
 * Keeps pages of memories, and returns the same object again while the documents behind it have not
 * changed. Each use asks the database for the documents' positions, or whether anything was
 * committed at all: a page is never older than the last acknowledged write, whoever made it.
 */
export class KeptPages {
  readonly #kept = new Map<string, Kept>();
  readonly #making = new Map<string, Making>();
  #bytes = 0;
  #serial = 0;
  /** For one version of the database: which page answered a question. */
  readonly #answers = new Map<string, { readonly key: string; readonly serial: number }>();
  #version: number | undefined;

  /**
   * The page that answered the same question, if nothing at all was committed since. Then only the
   * database's `version` is read. A question contains everything about the caller that the answer
   * depends on.
   */
  find(version: number | undefined, question: string): Page<Memory> | undefined {
    if (version === undefined || version !== this.#version) return undefined;
    const answer = this.#answers.get(question);
    const kept = answer && this.#kept.get(answer.key);
    if (!kept || kept.serial !== answer.serial) return undefined;
    this.#touch(answer.key, kept);
    return kept.page();
  }

  /**
   * `page` is what `get` returned for the question. `version` was read before anything else: the
   * page may be newer than that, never older.
   */
  remember(
    version: number | undefined,
    question: string,
    { filter, request, page }: Answered,
  ): void {
    if (version === undefined) return;
    if (version !== this.#version || this.#answers.size >= KEPT_PAGES_MAX) this.#answers.clear();
    this.#version = version;
    const key = keyOf(filter, request);
    const kept = this.#kept.get(key);
    // Another reader's page, perhaps an older one, may have replaced it.
    if (kept?.page() === page) this.#answers.set(question, { key, serial: kept.serial });
  }

  /**
   * The page for a `filter`, which `make` reads if necessary. The caller decides who may see which
   * documents, at each use; `filter` names these, and nothing else about the caller counts.
   */
  async get(
    db: Db,
    filter: MemoryFilter,
    {
      request,
      make,
    }: { readonly request: PageRequest; readonly make: () => Promise<Page<Memory>> },
  ): Promise<Page<Memory>> {
    const key = keyOf(filter, request);
    // Before the page is read: a commit in between makes the page newer than its marks, never
    // older.
    const marks = await marksOf(db, filter);
    const known = this.#kept.get(key);
    const same = known?.marks === marks ? known.page() : undefined;
    if (known && same) {
      this.#touch(key, known);
      return same;
    }
    const making = this.#making.get(key);
    // Nothing was committed since that one began, or its marks would be others.
    if (making?.marks === marks) return await making.page;
    return await this.#make(key, marks, make);
  }

  async #make(
    key: string,
    marks: string,
    make: () => Promise<Page<Memory>>,
  ): Promise<Page<Memory>> {
    const making: Making = { marks, page: make() };
    this.#making.set(key, making);
    try {
      const page = await making.page;
      this.#keep(key, marks, page);
      return page;
    } finally {
      if (this.#making.get(key) === making) this.#making.delete(key);
    }
  }

  /** Marks it as the one used last. */
  #touch(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
  }

  #keep(key: string, marks: string, page: Page<Memory>): void {
    this.#drop(key);
    const size = bytesOf(page);
    const isSmall = size <= KEPT_BYTES_MAX / 4;
    // A large page is shared only as long as somebody else keeps it in memory.
    const large = new WeakRef(page);
    const kept = isSmall ? () => page : () => large.deref();
    const bytes = isSmall ? size : MEMORY_OVERHEAD_BYTES;
    this.#kept.set(key, { marks, serial: this.#serial++, page: kept, bytes });
    this.#bytes += bytes;
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

function keyOf({ account, documents }: MemoryFilter, { limit, cursor }: PageRequest): string {
  return JSON.stringify([account, documents, limit, cursor]);
}

function bytesOf(page: Page<Memory>): number {
  let bytes = MEMORY_OVERHEAD_BYTES;
  for (const { key, content } of page.items) {
    bytes += 2 * (key.length + content.length) + MEMORY_OVERHEAD_BYTES;
  }
  return bytes;
}

/**
 * The documents' state, as a text: equal for equal ids, epochs, rows and complete rewrites. The
 * last is needed because a document that is rebuilt keeps its position.
 */
export async function marksOf(db: Db, { account, documents }: MemoryFilter): Promise<string> {
  assert(documents.length <= DOCUMENTS_MAX, "a list looks in a document of each layer at most");
  const [one = "", two = "", three = ""] = documents;
  const rows = await findMarks(db, { owner: account, one, two, three });
  return rows
    .map(({ id, epoch, seq, written, checksum }) => `${id} ${epoch} ${seq} ${written} ${checksum}`)
    .join("\n");
}

const findMarks = compiled(
  (
    db: Db,
    given: {
      readonly owner: AccountId;
      readonly one: string;
      readonly two: string;
      readonly three: string;
    },
  ) =>
    db
      .selectFrom("documents")
      .leftJoin("snapshots", "snapshots.document_id", "documents.id")
      .select((select) => [
        "documents.id",
        "documents.seq",
        "snapshots.seq as written",
        "snapshots.checksum",
        select
          .selectFrom("epochs")
          .select("epoch")
          .whereRef("epochs.document_id", "=", "documents.id")
          .orderBy("first_seq", "desc")
          .limit(1)
          .as("epoch"),
      ])
      .where("owner", "=", given.owner)
      .where("name", "in", [given.one, given.two, given.three])
      .orderBy("documents.id"),
);
