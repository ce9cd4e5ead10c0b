import * as Y from "yjs";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import { listRevisions } from "../../shared/replica/history/revisions.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";

/** A machine without a daemon, whose keeper looks when a test says, and its one document. */
export abstract class KeeperMachine {
  store!: ReplicaStore<DaemonTables>;

  constructor(readonly address: DocumentAddress) {}

  abstract look(): Promise<void>;

  async update(): Promise<Uint8Array> {
    return await this.store.write(async (context) => {
      return Y.encodeStateAsUpdate((await context.open(this.address)).document.ydoc);
    });
  }

  async apply(update: Uint8Array): Promise<void> {
    await this.store.write(async (context) => {
      (await context.open(this.address)).applyUpdate(update);
    });
  }

  /** Every former value of a memory that the history keeps. */
  async pastValues(key: string): Promise<string[]> {
    const id = await this.store.write(async (context) => (await context.open(this.address)).id);
    const revisions = await listRevisions(this.store.reader, id, { kind: "memory", key });
    return revisions.flatMap(({ value }) => value ?? []);
  }
}

/** Gives each machine what the others have. */
export async function exchangeKept(...machines: readonly KeeperMachine[]): Promise<void> {
  for (const from of machines) {
    const update = await from.update();
    for (const to of machines) if (to !== from) await to.apply(update);
  }
}

/** Looks and exchanges so many times, and looks once more. */
export async function settleKept(
  machines: readonly KeeperMachine[],
  rounds: number,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const machine of machines) await machine.look();
    await exchangeKept(...machines);
  }
  for (const machine of machines) await machine.look();
}
