import { messageOf } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import { parseJson } from "../../shared/json.ts";
import type { Log } from "../../shared/log.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import { homeKey, parseHome } from "../../shared/replica/log/homes.ts";
import { nameMachine } from "../../shared/replica/log/machines.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { documentsOf, type SyncUnit } from "../budget/sync-units.ts";
import { LOCAL_USER } from "../home/local-account.ts";
import { isPlain, readPosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";

/** What the keeper of this machine's name works with. */
export interface NameKeeperOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly log: Log;
  readonly serviceOf: (account: AccountId) => string;
}

/**
 * Says this machine's new name in the documents in which it has said another one. They would say it
 * with the next write, and until then other machines take the former one for this machine's.
 */
export class NameKeeper {
  readonly #options: NameKeeperOptions;
  /**
   * What was said here last, by document, and is not said again: where another home has this one's
   * id, the two would answer each other forever.
   */
  readonly #said = new Map<number, string>();
  #looking: Promise<void> = Promise.resolve();

  constructor(options: NameKeeperOptions) {
    this.#options = options;
  }

  /** To be called after a service has answered about these units of an account. Never rejects. */
  look(units: readonly SyncUnit[], account: AccountId): Promise<void> {
    const names = units.flatMap((unit) => documentsOf(unit, LOCAL_USER));
    this.#looking = this.#looking.then(() =>
      this.#look(names, account).catch((thrown) => {
        this.#options.log.warn({ reason: messageOf(thrown) }, "the new name was not said");
      }),
    );
    return this.#looking;
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  async #look(names: readonly string[], owner: AccountId): Promise<void> {
    const { store, serviceOf } = this.#options;
    const { machine: name, home } = store.writer;
    if (name === undefined || home === undefined) return;
    const key = homeKey(home);
    const rows = await store.reader
      .selectFrom("documents")
      .innerJoin("metadata", "metadata.document_id", "documents.id")
      .select(["documents.id", "documents.name as document", "metadata.value"])
      .where("documents.owner", "=", owner)
      .where("documents.name", "in", [...names])
      .where("metadata.key", "=", key)
      .orderBy("documents.id")
      .execute();
    for (const { id, document, value } of rows) {
      const said = parseHome(key, parseJson(value))?.name;
      if (said === name) this.#said.set(id, name);
      if (this.#said.get(id) === name) continue;
      const position = await readPosition(store.reader, serviceOf(owner), id);
      // A plain service tells of no machine, and what is refused would wait here forever.
      if (!position.remote || position.refused || isPlain(position)) continue;
      this.#said.set(id, name);
      await store.write(async (context) => {
        const open = await context.find({ owner, name: document });
        if (!open || open.isFull || deletionOf(open.document)) return;
        nameMachine(open.document, open.writer.clientId, { name, home, now: context.now });
      });
    }
  }
}
