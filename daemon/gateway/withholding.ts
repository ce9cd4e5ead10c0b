import type { Kysely } from "kysely";
import { memoryIdOf } from "../../shared/ids.ts";
import type { JsonValue } from "../../shared/json.ts";
import { wireDocumentId } from "../../shared/replica/document/address.ts";
import { OWN_METADATA_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import {
  entryReason,
  keyWords,
  leavingFor,
  memoryTexts,
  metadataReason,
  metadataTexts,
  metadataWords,
  textReason,
} from "../held/judge.ts";
import { personalLinesReason } from "../held/personal-lines.ts";
import { withoutSecrets } from "../held/searched-text.ts";
import { findSecrets } from "../held/secret-scan.ts";
import { findShownText, shownText } from "../held/shown-text.ts";
import { type HeldItem, type HeldPlace, listHeld, placeOf, putHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { writeText } from "../home/text-write.ts";
import { replaceHeld } from "../overwritten/replace-held.ts";
import type { PlainWrite, ServiceContext, Withholding } from "./mount.ts";

type Db = Kysely<DaemonTables>;

/**
 * Higher than the row number of any memory: in a list, held memories come last among equal times.
 */
const FIRST_HELD_ROW = 2 ** 52;

/**
 * The checks that the gateway's writes pass before they enter a document, and how held ones are
 * shown.
 */
export function createWithholding(): Withholding {
  return {
    async sift(context, open, write) {
      const sieve = new Sieve(context, open, await listHeld(homeOf(context.db), placeOf(open)));
      return await sieve.sift(write);
    },

    async remove(context, account, id) {
      const db = homeOf(context.db);
      const held = (await listHeld(db)).findLast(
        ({ kind, account: owner, document, key, value, shown }) =>
          owner === account &&
          kind === "memory" &&
          shown &&
          value !== undefined &&
          memoryIdOf(wireDocumentId(document), key) === id,
      );
      if (!held) return false;
      const open = await context.open({ owner: account, name: held.document });
      const { key, seen } = held;
      open.deleteMemory({ key, seen, now: context.now });
      await replaceHeld(db, held, { base: undefined, value: undefined });
      return true;
    },

    async memories(db, { account, documents }) {
      const held = (await listHeld(homeOf(db)))
        .filter(
          ({ kind, account: owner, document, shown }) =>
            kind === "memory" && owner === account && documents.includes(document) && shown,
        )
        .map(({ rowId, document: documentName, key, value, writtenAt }) => ({
          rowId: FIRST_HELD_ROW + rowId,
          documentName,
          memoryId: memoryIdOf(wireDocumentId(documentName), key),
          key,
          value,
          createdAt: writtenAt,
          updatedAt: writtenAt,
        }));
      // Of several of one memory the last one is shown.
      return [...new Map(held.map((each) => [each.memoryId, each])).values()];
    },

    searched: withoutSecrets,

    async text(db, account, document) {
      return (await findShownText(homeOf(db), { account, document }))?.value;
    },
  };
}

/** The services know only their own tables. The gateway runs them over a home's database. */
function homeOf(db: ServiceContext["db"]): Db {
  // Each set of tables lacks the other's, so that neither type contains the other.
  return db as unknown as Db;
}

/** Checks one write of the gateway on its way into a document. */
class Sieve {
  readonly #context: ServiceContext;
  readonly #db: Db;
  readonly #open: OpenDocument;
  readonly #held: readonly HeldItem[];

  constructor(context: ServiceContext, open: OpenDocument, held: readonly HeldItem[]) {
    this.#context = context;
    this.#db = homeOf(context.db);
    this.#open = open;
    this.#held = held;
  }

  async sift(write: PlainWrite): Promise<PlainWrite> {
    if (this.#held.length === 0 && !(await this.#mayBeHeld(write))) return write;
    const { name, claude_md_content: text, memories, metadata, ...rest } = write;
    const passed: { -readonly [field in keyof PlainWrite]: PlainWrite[field] } = rest;
    if (name !== undefined && (await this.#metadata(NAME_KEY, name))) passed.name = name;
    if (text !== undefined && (await this.#text(text))) passed.claude_md_content = text;
    if (memories) {
      const kept: { key: string; value: string }[] = [];
      for (const memory of memories) if (await this.#memory(memory)) kept.push(memory);
      passed.memories = kept;
    }
    if (metadata) {
      const kept: [string, JsonValue][] = [];
      for (const [key, value] of Object.entries(metadata)) {
        if (await this.#metadata(key, value)) kept.push([key, value]);
      }
      passed.metadata = Object.fromEntries(kept);
    }
    return passed;
  }

  /** One look at the whole write, because hardly any has anything to hold. */
  async #mayBeHeld(write: PlainWrite): Promise<boolean> {
    const memories = (write.memories ?? []).flatMap(({ key, value }) => [value, keyWords(key)]);
    const about = metadataWords(write.name ?? "", { ...write.metadata });
    const text = [write.claude_md_content ?? "", ...memories, about].join("\n");
    const document = this.#open.address.name;
    const lines = await personalLinesReason(this.#db, { document, text, already: [] });
    return lines !== undefined || (await mayHoldSecrets(write));
  }

  #find(kind: HeldPlace["kind"], key: string): HeldItem | undefined {
    return this.#held.findLast((held) => held.kind === kind && held.key === key && held.shown);
  }

  /** `base`: what the document has. Of what was left before the write may have all words again. */
  async #replace(
    { kind, key }: Pick<HeldPlace, "kind" | "key">,
    write: Parameters<typeof replaceHeld>[2],
  ): Promise<void> {
    const isOf = (held: HeldItem) =>
      kind === "text"
        ? held.kind === "text" || held.kind === "file"
        : held.kind === kind && held.key === key;
    if (!this.#held.some(isOf)) return;
    await replaceHeld(this.#db, { ...placeOf(this.#open), kind, key }, write);
  }

  /** True: it is to be written. False: it is held. */
  async #memory({ key, value }: { key: string; value: string }): Promise<boolean> {
    const held = this.#find("memory", key);
    // A reader of the merged state sends back what is held here. That is no write.
    if (held?.value === value) return false;
    const entries = this.#open.document.memories.get(key);
    const current = entries.map((entry) => String(entry.value));
    const place = { kind: "memory", ...placeOf(this.#open), key } as const;
    const replace = () => this.#replace(place, { base: current[0], value });
    if (!held && current[0] === value) return true;
    const reason = await entryReason(this.#db, { key, value }, leavingFor(this.#open, current));
    const seen = held?.seen ?? entries.map(({ id }) => id);
    if (reason !== undefined) {
      await replace();
      await this.#hold({ ...place, value, seen, reason });
      return false;
    }
    if (!held) {
      await replace();
      return true;
    }
    this.#open.refuseIfFull(() => {
      this.#open.document.setEntry("memories", key, {
        value,
        now: this.#context.now,
        seen,
      });
    });
    await replace();
    return false;
  }

  async #metadata(key: string, value: JsonValue): Promise<boolean> {
    const entries = this.#open.document.metadata.get(key);
    const current = entries.map((entry) => JSON.stringify(entry.value));
    const text = JSON.stringify(value);
    // Readers are not shown held metadata. Who sends back what they read has written nothing.
    if (current[0] === text) return true;
    if (this.#find("metadata", key)?.value === text) return false;
    const place = { kind: "metadata", ...placeOf(this.#open), key } as const;
    const leaving = leavingFor(this.#open, current);
    const reason = await metadataReason(this.#db, { key, value }, leaving);
    await this.#replace(place, { base: current[0], value: text });
    if (reason === undefined) return true;
    const seen = entries.map(({ id }) => id);
    await this.#hold({ ...place, value: text, seen, reason });
    return false;
  }

  async #text(value: string): Promise<boolean> {
    const { document } = this.#open;
    const shown = shownText(this.#held);
    if (shown?.value === value) return false;
    const content = document.content();
    const base = shown?.base ?? content;
    const reason = await textReason(this.#db, value, leavingFor(this.#open, [content]));
    const place = { kind: "text", ...placeOf(this.#open), key: "" } as const;
    const replace = () => this.#replace(place, { base: content, value });
    if (reason !== undefined) {
      await replace();
      await this.#hold({ ...place, value, seen: [], base, reason });
      return false;
    }
    if (!shown) {
      // Who sends back what is there has written nothing.
      if (value !== content) await replace();
      return true;
    }
    const writtenAt = this.#context.now;
    this.#open.refuseIfFull(() => writeText(document, { base, value, writtenAt }));
    await replace();
    return false;
  }

  async #hold(write: Omit<Parameters<typeof putHeld>[1], "cause" | "writtenAt">): Promise<void> {
    await putHeld(this.#db, { ...write, cause: "private", writtenAt: this.#context.now });
  }
}

const NAME_KEY = `${OWN_METADATA_PREFIX}name`;

async function mayHoldSecrets(write: PlainWrite): Promise<boolean> {
  const texts = [
    write.name ?? "",
    write.claude_md_content ?? "",
    ...(write.memories ?? []).flatMap(memoryTexts),
    ...Object.entries(write.metadata ?? {}).flatMap(([key, value]) => metadataTexts(key, value)),
  ];
  // Blank lines between the texts, so that a mark in one does not allow the next.
  return (await findSecrets(texts.join("\n\n"))).length > 0;
}
