import type { Kysely } from "kysely";
import { AppError, messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { pinnedBy } from "../../shared/sqlite/direct.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { World } from "../../shared/world.ts";
import { bearerToken } from "../http/bearer.ts";
import { REFUSED_TOKEN } from "../http/refused-token.ts";
import type { Caller } from "../services/services.ts";
import { findTokenByHash, markUsed, type TokenRecord } from "../stores/account-store.ts";
import type { HostTables } from "../stores/account-tables.ts";
import type { HostDatabase } from "../stores/host-database.ts";
import { allowLateCommit } from "../stores/late-commit.ts";
import { hashToken, isWellFormedToken } from "./token.ts";

/**
 * A look-up is trusted for this long, so that a token revoked by another process ends within it.
 */
const TRUSTED_MS = 1000;
const KEPT_MAX = 10_000;

/** A token's last use is stored at most this often. */
const USE_NOTED_EVERY_MS = 60_000;

interface Kept {
  readonly record: TokenRecord;
  readonly caller: Caller;
  readonly lookedUpAt: number;
}

/**
 * Finds the owner of a token. A token with a wrong checksum is refused without a look-up; an
 * unknown, expired or revoked one after a look-up. The last use is stored in the background.
 */
export class TokenAuthenticator {
  readonly #kept = new Map<string, Kept>();
  readonly #notedAt = new Map<string, number>();
  #noting: Promise<void> = Promise.resolve();

  constructor(
    readonly database: HostDatabase,
    readonly world: World,
    readonly log: Log,
  ) {}

  /** The caller of an `Authorization` header; undefined without a valid token. */
  async authenticate(header: string | null): Promise<Caller | undefined> {
    const token = bearerToken(header);
    if (token === undefined || !isWellFormedToken(token)) return undefined;
    const hash = hashToken(token);
    const kept = this.#trusted(hash) ?? (await this.#lookUp(hash));
    if (!kept || !isValid(kept.record, this.world.now())) return undefined;
    this.#note(kept.record.id);
    return kept.caller;
  }

  /** Looks every token up again at its next use. */
  forget(): void {
    this.#kept.clear();
  }

  /** Resolves when the last uses are stored. */
  async settled(): Promise<void> {
    await this.#noting;
  }

  #trusted(hash: string): Kept | undefined {
    const kept = this.#kept.get(hash);
    return kept && this.world.monotonic() - kept.lookedUpAt < TRUSTED_MS ? kept : undefined;
  }

  async #lookUp(hash: string): Promise<Kept | undefined> {
    const record = await findTokenByHash(this.database.reader, hash);
    this.#kept.delete(hash);
    if (!record) return undefined;
    const caller = callerOf(record, this.world);
    const kept = { record, caller, lookedUpAt: this.world.monotonic() };
    this.#kept.set(hash, kept);
    if (this.#kept.size > KEPT_MAX) this.#forgetOldest();
    return kept;
  }

  #forgetOldest(): void {
    for (const hash of this.#kept.keys()) {
      this.#notedAt.delete(this.#kept.get(hash)?.record.id ?? "");
      this.#kept.delete(hash);
      return;
    }
  }

  #note(id: string): void {
    const now = this.world.now();
    if (now - (this.#notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < USE_NOTED_EVERY_MS) return;
    this.#notedAt.set(id, now);
    this.#noting = this.#noting
      .then(() =>
        this.database.write(async (db) => {
          await allowLateCommit(db);
          await markUsed(db, id, now);
        }),
      )
      .catch((thrown) => {
        this.#notedAt.delete(id);
        this.log.warn({ token: id, reason: messageOf(thrown) }, "a token's use was not noted");
      });
  }
}

type Validity = Pick<TokenRecord, "revokedAt" | "expiresAt">;

function isValid({ revokedAt, expiresAt }: Validity, now: number): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt);
}

function callerOf(record: TokenRecord, world: World): Caller {
  return {
    account: record.account.id,
    user: record.user.id,
    tokenId: record.id,
    plan: record.account.plan,
    canWrite: record.scope === "write",
    boundTo: record.projects,
    expiresAt: record.expiresAt,
    assertValid(db) {
      const host: Kysely<HostTables> = narrowTables(db);
      const refuseEnded = ([row]: readonly Validity[]) => {
        if (row && isValid(row, world.now())) return;
        throw new AppError("unauthorized", REFUSED_TOKEN);
      };
      // On SQLite it is known at once, and nothing is waited for.
      if (pinnedBy(host)) return refuseEnded(findValidity.now(host, { id: record.id }));
      return findValidity(host, { id: record.id }).then(refuseEnded);
    },
  };
}

const findValidity = compiled((db: Kysely<HostTables>, { id }: { readonly id: string }) =>
  db
    .selectFrom("tokens")
    .select(["revoked_at as revokedAt", "expires_at as expiresAt"])
    .where("id", "=", id),
);
