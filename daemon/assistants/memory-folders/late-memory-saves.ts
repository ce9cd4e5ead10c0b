import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentAddress } from "../../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { LateSaves } from "../../files/saves/late-saves.ts";
import { committedEndings } from "../../git/git-endings.ts";
import { whyMemoryHeld } from "../../held/judge.ts";
import { putHeld } from "../../home/held-store.ts";
import type { StandingMemory } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { heldPlaceOf } from "./held-memories.ts";
import { keyOfName } from "./memory-names.ts";
import { findPutBack } from "./put-back-text.ts";
import { isWithGitEndings, shownBytes } from "./shown-bytes.ts";
import { type MemoryEdit, takeMemoryEdit } from "./take-memory-edit.ts";

/** A file whose name a write took, and what it had then. */
interface ReplacedMemory {
  readonly folder: string;
  readonly format: FolderFormat;
  readonly name: string;
  readonly address: DocumentAddress;
  readonly base: StandingMemory;
}

interface LateSaveOptions {
  readonly world: World;
  readonly store: ReplicaStore<DaemonTables>;
  /** Called when there may be a save to take. */
  readonly look: () => void;
}

/** Finds saves into memory files that were replaced; see `LateSaves`. */
export class LateMemorySaves {
  readonly #options: LateSaveOptions;
  readonly #saves = new Map<string, { readonly saves: LateSaves; readonly of: ReplacedMemory }>();

  constructor(options: LateSaveOptions) {
    this.#options = options;
  }

  /** Keeps a replaced file open for a while. */
  async add(handle: FileHandle, of: ReplacedMemory): Promise<void> {
    const path = join(of.folder, of.name);
    const { world, look } = this.#options;
    const saves = this.#saves.get(path)?.saves ?? new LateSaves(world, look);
    this.#saves.set(path, { saves, of });
    await saves.add(handle, stateOf(of.base));
  }

  /** Takes a save that a write has put aside, and of which a crash took the name. */
  async takeLeft(of: ReplacedMemory, file: MemoryEdit["file"]): Promise<void> {
    await this.#takeEdit(of, { ...of, file });
  }

  /** Takes what was saved since into the documents. */
  async take({ isLast = false } = {}): Promise<void> {
    for (const { saves, of } of this.#saves.values()) {
      await saves.take(
        async (base, { content, hash, savedAt }) => {
          const file = { kind: "text", content, hash, savedAt } as const;
          // Only the text that was replaced is known to stand for entries.
          const shown = base.hash === of.base.hash ? of.base : undefined;
          return stateOf(await this.#takeEdit(of, { ...of, base: shown, file }));
        },
        { isLast },
      );
    }
  }

  async #takeEdit(of: ReplacedMemory, given: MemoryEdit): Promise<StandingMemory> {
    const content = isWithGitEndings(of.base)
      ? committedEndings(given.file.content)
      : given.file.content;
    const edit = { ...given, file: { ...given.file, content } };
    return await this.#options.store.write(async (context) => {
      const open = await context.open(of.address);
      const key = keyOfName(edit.format, edit.name);
      const value = edit.file.content;
      const already = open.document.memories.get(key).map((entry) => String(entry.value));
      const why = await whyMemoryHeld(context.db, open, { memory: { key, value }, already });
      if (!why) {
        // Somebody may have put an earlier version back into it.
        const isIndex = edit.name === edit.format.index;
        const former = edit.base && { name: edit.name, ...edit.base };
        const asked = { key, former, file: edit.file, mayBeSingle: isIndex };
        const putBack = await findPutBack(context.db, open, asked);
        if (!putBack) return await takeMemoryEdit(context, open, edit);
        const { since: unseen, savedAt } = putBack;
        const file = isIndex ? edit.file : { ...edit.file, savedAt };
        return await takeMemoryEdit(context, open, { ...edit, file, unseen });
      }
      const seen = edit.base?.seen ?? [];
      const place = heldPlaceOf(open, key, edit.file.hash);
      // No file has it.
      const held = { ...place, value, seen, shown: false, writtenAt: context.now };
      await putHeld(context.db, { ...held, ...why });
      return { hash: edit.file.hash, text: value, seen };
    });
  }

  /** Saves into replaced files are nowhere else. */
  async close(): Promise<void> {
    try {
      await this.take({ isLast: true });
    } finally {
      for (const { saves } of this.#saves.values()) await saves.close();
    }
  }
}

function stateOf(shown: StandingMemory) {
  const { hash } = shown;
  const { form, lines } = splitForm(shownBytes(shown));
  return { hash, base: { text: lines, spans: [] }, form };
}
