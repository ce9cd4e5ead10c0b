import { AppError } from "../../shared/errors.ts";
import type { AccountId, UserId } from "../../shared/ids.ts";
import {
  COMMIT_HELD_UP,
  DatabaseFailure,
  REMOVAL_HELD_UP,
} from "../../shared/postgres/failures.ts";
import { userDocument } from "../../shared/replica/document/address.ts";
import { delay, type World } from "../../shared/world.ts";
import {
  type AccountRow,
  countTokens,
  deleteTokens,
  deleteUser,
  findAccount,
  findUser,
  listUsers,
  type User,
} from "../stores/account-store.ts";
import type { HostDatabase } from "../stores/host-database.ts";
import { keepOthersOut } from "../stores/keep-others-out.ts";
import { countProjects } from "../stores/project-store.ts";
import { deleteAccount, deleteDocument, listDocuments } from "../stores/purge-store.ts";

/** A running server accepts a removed token for at most half of this time. */
const TOKENS_GONE_MS = 2000;

/** What is removed with an account or a user. */
export interface Belongings {
  readonly users: number;
  /** Without revoked ones. */
  readonly tokens: number;
  readonly projects: number;
  readonly memories: number;
}

/**
 * Removes accounts and users for good from the host's database, whether the server runs or not.
 * Their tokens are removed first, in a transaction of their own: after that nobody can write what
 * is being deleted. If a removal was interrupted, removing them again completes it: so where the
 * commit of a step waits for a standby that is lost, which throws `REMOVAL_HELD_UP`.
 */
export class HostRemoval {
  constructor(
    readonly database: HostDatabase,
    readonly world: World,
    /** Whether a server serves the database now. */
    readonly isServed: () => Promise<boolean>,
  ) {}

  async getAccount(named: string): Promise<AccountRow> {
    const account = await findAccount(this.database.reader, named);
    if (account) return account;
    throw new AppError(
      "not_found",
      `there is no account ${named}: \`memsync server account list\` lists them`,
    );
  }

  async getUser(named: string, name: string): Promise<User> {
    const account = await this.getAccount(named);
    const user = await findUser(this.database.reader, account.id, name);
    if (user) return user;
    const lists = `\`memsync server user list --account ${account.name}\` lists them`;
    throw new AppError("not_found", `${account.name} has no user ${name}: ${lists}`);
  }

  async ofAccount({ id }: AccountRow): Promise<Belongings> {
    const { reader } = this.database;
    const documents = await listDocuments(reader, id);
    return {
      users: (await listUsers(reader, id)).length,
      tokens: await countTokens(reader, { account: id }),
      projects: await countProjects(reader, { account: id, among: null }),
      memories: await this.#countMemories(documents),
    };
  }

  async ofUser({ id, accountId }: User): Promise<Belongings> {
    const { reader } = this.database;
    const documents = await listDocuments(reader, accountId, documentOf(accountId, id));
    return {
      users: 1,
      tokens: await countTokens(reader, { user: id }),
      projects: 0,
      memories: await this.#countMemories(documents),
    };
  }

  /** Deletes the account with its contents and histories. */
  async removeAccount(account: AccountRow): Promise<void> {
    await this.#removeAccount(account).catch(refuseHeldUp);
  }

  /** Deletes the user with the memories of the layer `user`. Projects belong to the account. */
  async removeUser(user: User): Promise<void> {
    await this.#removeUser(user).catch(refuseHeldUp);
  }

  async #removeAccount({ id }: AccountRow): Promise<void> {
    await this.database.write(async (db) => {
      await keepOthersOut(db, id);
      await deleteTokens(db, { account: id }, this.world.now());
    });
    await this.#untilNobodyWrites();
    for (const document of await listDocuments(this.database.reader, id)) {
      await this.database.write((db) => deleteDocument(db, document));
    }
    await this.database.write((db) => deleteAccount(db, id));
  }

  async #removeUser({ id, accountId }: User): Promise<void> {
    await this.database.write(async (db) => {
      await keepOthersOut(db, accountId);
      await deleteTokens(db, { user: id }, this.world.now());
    });
    await this.#untilNobodyWrites();
    const own = await listDocuments(this.database.reader, accountId, documentOf(accountId, id));
    await this.database.write(async (db) => {
      await keepOthersOut(db, accountId);
      for (const document of own) await deleteDocument(db, document);
      await deleteUser(db, id);
    });
  }

  async #untilNobodyWrites(): Promise<void> {
    if (await this.isServed()) await delay(this.world, TOKENS_GONE_MS);
  }

  async #countMemories(documents: readonly number[]): Promise<number> {
    if (documents.length === 0) return 0;
    const { count } = await this.database.reader
      .selectFrom("memories")
      .select((select) => select.fn.countAll<number>().as("count"))
      .where("document_id", "in", documents)
      .executeTakeFirstOrThrow();
    return Number(count);
  }
}

/** A step that is saved once the standby answers is not the removal. */
function refuseHeldUp(thrown: unknown): never {
  const isHeldUp = thrown instanceof DatabaseFailure && thrown.message === COMMIT_HELD_UP;
  throw isHeldUp ? new DatabaseFailure(REMOVAL_HELD_UP, thrown) : thrown;
}

function documentOf(account: AccountId, user: UserId): string {
  return userDocument(account, user).name;
}
