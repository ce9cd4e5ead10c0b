import { type AccountId, asAccountId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import type { World } from "../../shared/world.ts";
import { LOCAL_ACCOUNT, randomAccount } from "../home/local-account.ts";
import { EMBEDDED, UNKNOWN_SERVICE } from "../home/remote.ts";
import type { KeptBindings } from "./links-file.ts";
import type { DamagedTable } from "./read-damaged.ts";

/** The migration that created the table. */
const MIGRATION = "daemon-remotes";

/** Name of the remote for projects whose service is unknown. */
const UNBOUND = "unbound";

/** A row of `remotes`. */
export interface RemoteRow {
  readonly name: string;
  readonly url: string | null;
  readonly account: AccountId;
  readonly token_place: string | null;
  readonly is_default: number;
}

/** A document with its owner in the damaged database. */
export interface OwnedDocument {
  readonly name: string;
  readonly owner: AccountId;
}

/** What can be read about owners. */
export interface BindingSources {
  readonly remotes: DamagedTable;
  readonly migrations: DamagedTable;
  readonly documents: readonly OwnedDocument[];
  readonly kept: KeptBindings | undefined;
  readonly world: World;
}

/**
 * Decides who owns the documents of a damaged database. What is not certain gets a remote of its
 * own, `unbound`, whose service can't be called: a person decides where it goes.
 */
export class SalvagedBindings {
  readonly #known: readonly RemoteRow[] | undefined;
  readonly #sources: BindingSources;
  readonly #unbound: AccountId;
  /** Accounts without a known service. */
  readonly #orphans = new Set<AccountId>();

  constructor(sources: BindingSources) {
    const { world, documents } = sources;
    this.#sources = sources;
    this.#known = knownRemotes(sources);
    this.#unbound = this.#known ? randomAccount(world, UNBOUND) : LOCAL_ACCOUNT;
    if (this.#known) return;
    for (const { owner } of documents) this.#orphans.add(owner);
    this.#orphans.add(LOCAL_ACCOUNT);
  }

  /** Whether links need a document that says which account their project belongs to. */
  get areNamed(): boolean {
    return this.#known?.length !== 0;
  }

  ownerOf({ name, owner }: OwnedDocument): AccountId {
    if (!this.#known || !this.areNamed) return owner;
    if (projectOf(name) === undefined) return owner;
    const kept = this.#sources.kept?.projects[name];
    const isSure = this.#isKnown(owner) && (kept === undefined || kept === owner);
    return isSure ? owner : this.#orphan();
  }

  /** The account of a linked project without a document. */
  ownerOfLink(project: string): AccountId {
    const kept = this.#sources.kept?.projects[project];
    return kept !== undefined && this.#isKnown(kept) ? kept : this.#orphan();
  }

  /** The remotes of the new database. To be called after everything has an owner. */
  remotes(): RemoteRow[] {
    const { world } = this.#sources;
    const fresh = { name: EMBEDDED, url: null, account: randomAccount(world, EMBEDDED) };
    const known = this.#known ?? [{ ...fresh, token_place: null, is_default: 0 }];
    const taken = new Set(known.map(({ name }) => name));
    const orphans = [...this.#orphans].map((account): RemoteRow => {
      const name = freeName(taken);
      taken.add(name);
      return { name, url: UNKNOWN_SERVICE, account, token_place: null, is_default: 0 };
    });
    return [...known, ...orphans];
  }

  #isKnown(account: AccountId): boolean {
    return this.#known?.some((each) => each.account === account) ?? false;
  }

  #orphan(): AccountId {
    this.#orphans.add(this.#unbound);
    return this.#unbound;
  }
}

/** Undefined where nothing is known, or where the sources contradict each other. */
function knownRemotes(sources: BindingSources): readonly RemoteRow[] | undefined {
  const { documents, kept } = sources;
  const copied = kept?.remotes.map((remote) => ({
    name: remote.name,
    url: remote.url ?? null,
    account: remote.account,
    token_place: remote.tokenPlace ?? null,
    is_default: remote.isDefault ? 1 : 0,
  }));
  const read = readRemotes(sources);
  if (read && copied && summary(read) !== summary(copied)) return undefined;
  const known = read ?? copied;
  const isNamed = documents.some(({ owner }) => owner !== LOCAL_ACCOUNT);
  return known?.length === 0 && isNamed ? undefined : known;
}

function readRemotes({ remotes, migrations }: BindingSources): RemoteRow[] | undefined {
  const isOlder = migrations.whole && !migrations.rows.some(({ name }) => name === MIGRATION);
  if (isOlder) return [];
  if (!remotes.whole) return undefined;
  return remotes.rows.map((row) => ({
    name: `${row.name}`,
    url: row.url === null ? null : `${row.url}`,
    account: asAccountId(`${row.account}`),
    token_place: row.token_place === null ? null : `${row.token_place}`,
    is_default: Number(row.is_default),
  }));
}

function summary(remotes: readonly RemoteRow[]): string {
  return JSON.stringify(remotes.map(({ name, url, account }) => [name, url, account]).sort());
}

function freeName(taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? UNBOUND : `${UNBOUND}-${count}`;
    if (!taken.has(name)) return name;
  }
}
