import { AppError } from "../../../shared/errors.ts";
import type { AccountId } from "../../../shared/ids.ts";
import { dropImage, keepImage, ownersInImage, putBackImage } from "../../stores/data-images.ts";
import type { HostStore } from "../../stores/open-store.ts";
import { deleteData } from "./reset-data.ts";

interface Kept {
  readonly name: string;
  readonly account: AccountId | undefined;
  readonly image: number;
}

/** More are a mistake, as of a test that names each of them anew. */
const SNAPSHOTS_MAX = 100;

const NAME = /^[0-9A-Za-z_.-]{1,64}$/;

/**
 * States by name, of one account or of all; gone with the process.
 *
 * ```
 * await snapshots.save("seeded", account);
 * await snapshots.restore("seeded", account);
 * ```
 */
export class Snapshots {
  #kept: readonly Kept[] = [];
  #made = 0;

  constructor(readonly host: HostStore) {}

  /** In place of one of this name. */
  async save(name: string, account: AccountId | undefined): Promise<void> {
    if (!NAME.test(name)) {
      throw new AppError("invalid_request", "a snapshot's name is 1 to 64 of 0-9 A-Z a-z _ . -");
    }
    if (!this.#find(name, account) && this.#kept.length >= SNAPSHOTS_MAX) {
      throw new AppError("invalid_request", "there are too many snapshots: delete some");
    }
    this.#made += 1;
    const image = this.#made;
    await this.host.store.settle();
    await this.host.store.write(({ db }) => keepImage(db, image, account));
    // Somebody else may have saved one of this name meanwhile.
    const former = this.#find(name, account);
    this.#kept = [...this.#kept.filter((kept) => kept !== former), { name, account, image }];
    if (former) await this.host.store.write(({ db }) => dropImage(db, former.image));
  }

  /** What was stored then is stored now, under positions that no client has seen. */
  async restore(name: string, account: AccountId | undefined): Promise<void> {
    this.#get(name, account);
    // Changes that are only in memory yet belong to the documents of now: they are written before
    // these are replaced.
    await this.host.store.settle();
    await this.host.store.write(async (context) => {
      // Only here is it sure that nobody has deleted or replaced it meanwhile.
      const { image } = this.#get(name, account);
      await deleteData(context, account);
      await putBackImage(context.db, image);
      for (const owner of await ownersInImage(context.db, image)) context.reread(owner);
    });
  }

  list(account: AccountId | undefined): string[] {
    return this.#kept.filter((kept) => kept.account === account).map(({ name }) => name);
  }

  async delete(name: string, account: AccountId | undefined): Promise<void> {
    const kept = this.#get(name, account);
    // The snapshot goes before its image does: nobody may find one that has none.
    this.#kept = this.#kept.filter((each) => each !== kept);
    await this.host.store.write(({ db }) => dropImage(db, kept.image));
  }

  #find(name: string, account: AccountId | undefined): Kept | undefined {
    return this.#kept.find((kept) => kept.name === name && kept.account === account);
  }

  #get(name: string, account: AccountId | undefined): Kept {
    const kept = this.#find(name, account);
    if (kept) return kept;
    throw new AppError("not_found", "there is no snapshot of this name, of this token or of all");
  }
}
