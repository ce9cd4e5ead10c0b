import { AppError } from "../../shared/errors.ts";
import { type AccountId, asAccountId, asUserId, base32, type ProjectId } from "../../shared/ids.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import type { World } from "../../shared/world.ts";
import {
  type AccountRow,
  findAccount,
  findAccountOfToken,
  findUser,
  insertAccount,
  insertToken,
  insertUser,
  listAccounts,
  listTokens,
  listUsers,
  revokeToken,
  type TokenRecord,
  type User,
  type UserRecord,
  updatePlan,
} from "../stores/account-store.ts";
import type { HostDatabase } from "../stores/host-database.ts";
import { keepOthersOut } from "../stores/keep-others-out.ts";
import { findProject } from "../stores/project-store.ts";
import { hashToken, mintToken } from "./token.ts";

const ID_BYTES = 10;

/** A token to mint: for which user of which account, what it may do, and until when. */
export interface TokenRequest {
  /** Id or name of the account. */
  readonly account: string;
  /**
   * The user's name in the account. A new name creates a user. If left out, it is the one user
   * `owner`, who is made with an account's first token.
   */
  readonly user?: string | undefined;
  readonly name: string;
  readonly scope: "read" | "write";
  /** The token is restricted to these projects; null: to none. */
  readonly projects: readonly ProjectId[] | null;
  /** Milliseconds since the Unix epoch; null never expires. */
  readonly expiresAt: number | null;
}

/** A new token, with what is known of it only now. */
export interface MintedToken {
  readonly id: string;
  readonly token: string;
  /** Whose it is. */
  readonly user: string;
  /** Whether the user was made for this token. */
  readonly isNewUser: boolean;
}

/** The user of an account whose tokens name none. */
const OWNER = "owner";

/**
 * Manages who may use a host, for `memsync server account` and `memsync server token`. Works on the
 * host's database, whether the server runs or not.
 */
export class HostAdmin {
  constructor(
    readonly database: HostDatabase,
    readonly world: World,
  ) {}

  /** Refuses a name that is taken or unreadable. */
  async createAccount(name: string, plan: AccountRow["plan"]): Promise<AccountRow> {
    assertNewName("an account", name);
    const id = asAccountId(`acct_${this.#randomPart()}`);
    const account: AccountRow = { id, name, plan, createdAt: this.world.now() };
    await this.database.write(async (db) => {
      const isFree = !(await findAccount(db, name)) && (await insertAccount(db, account));
      if (!isFree) throw refused("an account of this name is there already");
    });
    return account;
  }

  listAccounts(): Promise<AccountRow[]> {
    return listAccounts(this.database.reader);
  }

  /** A running server applies the new plan's limits within a second. */
  async setPlan(named: string, plan: AccountRow["plan"]): Promise<AccountRow> {
    return await this.database.write(async (db) => {
      const account = await findAccount(db, named);
      if (!account) throw noAccount(named);
      await updatePlan(db, account.id, plan);
      return { ...account, plan };
    });
  }

  async listUsers(named: string): Promise<UserRecord[]> {
    const account = await findAccount(this.database.reader, named);
    if (!account) throw noAccount(named);
    return await listUsers(this.database.reader, account.id);
  }

  /** Creates a token. It is returned only now, and stored nowhere. */
  async createToken(request: TokenRequest): Promise<MintedToken> {
    const named = request.user ?? OWNER;
    assertName("a token", request.name);
    let isNewUser = false;
    const token = mintToken(this.world);
    const id = `tok_${this.#randomPart()}`;
    const now = this.world.now();
    await this.database.write(async (db) => {
      const account = await findAccount(db, request.account);
      if (!account) throw noAccount(request.account);
      await keepOthersOut(db, account.id);
      let user = await findUser(db, account.id, named);
      isNewUser = !user;
      if (!user) {
        if (request.user === undefined) await refuseIfAmbiguous(db, account);
        assertNewName("a user", named);
        user = this.#newUser(account.id, named);
        await insertUser(db, user, now);
      }
      const { name, scope, projects, expiresAt } = request;
      const hash = hashToken(token);
      const userId = user.id;
      await insertToken(db, { id, hash, userId, name, scope, projects, createdAt: now, expiresAt });
    });
    return { id, token, user: named, isNewUser };
  }

  /** Which of these projects the account does not have yet. */
  async missingProjects(named: string, projects: readonly ProjectId[]): Promise<ProjectId[]> {
    const account = await findAccount(this.database.reader, named);
    if (!account) throw noAccount(named);
    const missing: ProjectId[] = [];
    for (const id of projects) {
      if (!(await findProject(this.database.reader, account.id, id))) missing.push(id);
    }
    return missing;
  }

  /** Those of one account if it is named. */
  async listTokens(named: string | undefined): Promise<TokenRecord[]> {
    if (named === undefined) return await listTokens(this.database.reader, undefined);
    const account = await findAccount(this.database.reader, named);
    if (!account) throw noAccount(named);
    return await listTokens(this.database.reader, account.id);
  }

  /** A running server refuses the token within a second. */
  async revokeToken(id: string): Promise<void> {
    const revoked = await this.database.write(async (db) => {
      const account = await findAccountOfToken(db, id);
      // Writes that began before are over then: no further write with this token is committed.
      if (account !== undefined) await keepOthersOut(db, account);
      return await revokeToken(db, id, this.world.now());
    });
    if (revoked) return;
    const list = "`memsync server token list` shows which there are";
    throw new AppError(
      "not_found",
      `no token has the id ${quoted(id)}, or it is revoked already: ${list}`,
    );
  }

  #newUser(accountId: AccountId, name: string): User {
    return { id: asUserId(`user_${this.#randomPart()}`), accountId, name };
  }

  #randomPart(): string {
    return base32(this.world.randomBytes(ID_BYTES));
  }
}

function assertName(whose: string, name: string): void {
  const isOne = name.trim() !== "" && !/\p{Cc}/u.test(name);
  if (isOne && !exceedsBytes(name, LIMITS.projectNameBytes)) return;
  const rule = `1 to ${LIMITS.projectNameBytes} bytes without control characters`;
  throw refused(`the name of ${whose} is ${rule}`);
}

/** The names of accounts and users are typed, and become parts of paths and commands. */
function assertNewName(whose: string, name: string): void {
  assertName(whose, name);
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._@+-]*$/u.test(name)) return;
  throw refused(
    `the name of ${whose} begins with a letter or a digit, and has only those and . _ @ + - in it`,
  );
}

/** Throws if the account has users and none was named: the token may be meant for one of them. */
async function refuseIfAmbiguous(
  db: Parameters<typeof listUsers>[0],
  { id, name }: AccountRow,
): Promise<void> {
  const users = await listUsers(db, id);
  if (users.length === 0) return;
  const names = users.slice(0, NAMED_MAX).map((each) => each.name);
  const shown = `${names.join(", ")}${users.length > names.length ? ", …" : ""}`;
  throw refused(`${name} has users (${shown}): say by --user whose token it is to be`);
}

/** A refusal names at most this many users. */
const NAMED_MAX = 5;

function noAccount(named: string): AppError {
  return new AppError(
    "not_found",
    `there is no account ${quoted(named)}: \`memsync server account list\` lists them`,
  );
}

/** The given text in quotes, so that a control character in it can't act on a terminal. */
function quoted(given: string): string {
  return JSON.stringify(given);
}

function refused(message: string): AppError {
  return new AppError("invalid_request", message);
}
