import { AppError, messageOf } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { DELETION_KEY } from "../../shared/replica/document/deletion-entry.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { World } from "../../shared/world.ts";
import type { Urgency } from "../budget/budget.ts";
import { budgetsIn } from "../budget/budget-store.ts";
import { documentsOf, type SyncUnit } from "../budget/sync-units.ts";
import type { OnActivity } from "../home/activity.ts";
import type { Link } from "../home/links.ts";
import { LOCAL_USER } from "../home/local-account.ts";
import { forgetOtherServices } from "../home/positions.ts";
import { findProjectName } from "../home/project-name.ts";
import {
  type Remote,
  type RemoteEnvironment,
  serviceNameOf,
  UNKNOWN_SERVICE,
} from "../home/remote.ts";
import { listBindings } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { listUnsent } from "../home/unlinked-projects.ts";
import { type Failure, failureBy } from "../service/failure.ts";
import { createHttpService } from "../service/http-service.ts";
import type { Service } from "../service/service.ts";
import { SyncEngine } from "../sync/engine.ts";
import { guardToken } from "./guard-token.ts";
import { OpenLater } from "./open-later.ts";
import { type RemoteView, readRemotes } from "./remote-view.ts";
import type { FoundToken, TokenStore } from "./token-store.ts";
import { unavailableService } from "./unavailable-service.ts";

/** A remote that could not be opened, as where the disk is full, is tried again after this time. */
const OPEN_AGAIN = { minMs: 60_000, maxMs: 60_000 };

/**
 * A locked keyring may ask a person for its password each time, so it is asked ever more rarely: at
 * first after a minute, since it may be opened as the desktop starts.
 */
const ASK_KEYRING_AGAIN = { minMs: 60_000, maxMs: 4 * 3_600_000 };

/** The place where the token should be can't be read. */
interface Failed {
  readonly kind: "failed";
  readonly message: string;
}

/** What the open remotes work with. */
export interface OpenRemotesOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly environment: RemoteEnvironment;
  readonly tokens: TokenStore;
  readonly openEmbedded: () => Promise<Service>;
  /** The links as they are now. */
  readonly links: () => readonly Link[];
  /** Called as an engine's, with the account; see `EngineOptions`. */
  readonly onContact: (units: readonly SyncUnit[], account: AccountId) => void;
  readonly onActivity?: OnActivity | undefined;
  /** Called when a service tells who shares the account. */
  readonly onAccount?: ((open: OpenRemote, told: Account) => void) | undefined;
  /** See `RoundOptions`. */
  readonly lookAtFiles?: ((project: ProjectId) => Promise<void>) | undefined;
  readonly sendsSessions?: (() => boolean) | undefined;
  /** See `NewUnitsOptions`. */
  readonly isLinking?: (() => boolean) | undefined;
  readonly isTextAwaited?: ((project: SyncUnit) => boolean) | undefined;
}

/** A remote that is being synced. */
export interface OpenRemote {
  readonly remote: Remote;
  /** It was the default one when it was opened. */
  readonly isDefault: boolean;
  readonly service: Service;
  readonly engine: SyncEngine;
}

/**
 * The remotes of a running daemon: the default one, and each to which something is bound. Each has
 * a service and an engine of its own. An engine is given only its own account's documents.
 */
export class OpenRemotes {
  readonly #options: OpenRemotesOptions;
  readonly #open = new Map<AccountId, OpenRemote>();
  #view: RemoteView = { remotes: [], default: undefined, follows: true };
  #bindings: ReadonlyMap<ProjectId, AccountId> = new Map();
  /** Projects that are synced without a link, with their names. */
  #unlinked: ReadonlyMap<ProjectId, string> = new Map();
  /** Those of them about which a service is asked once. */
  readonly #visited = new Set<ProjectId>();
  readonly #stopListening: () => void;
  readonly #unopened: OpenLater;
  /** Those whose token the keyring did not give. */
  readonly #shut: OpenLater;
  #started = false;
  #stopped = false;
  #refreshes: Promise<void> = Promise.resolve();

  constructor(options: OpenRemotesOptions) {
    this.#options = options;
    const open = (names: readonly string[]) => this.refresh(names);
    this.#unopened = new OpenLater(options, OPEN_AGAIN, open);
    this.#shut = new OpenLater(options, ASK_KEYRING_AGAIN, open);
    this.#stopListening = options.store.onCommit((rows) => {
      if (rows.some((row) => this.#isToSend(row))) this.#refreshSoon();
    });
  }

  /** The remotes at the last `refresh`. */
  get view(): RemoteView {
    return this.#view;
  }

  /** In the order in which they were added to the home. */
  list(): OpenRemote[] {
    return this.#view.remotes.flatMap(({ account }) => this.#open.get(account) ?? []);
  }

  /** The open remote of an account, if there is one. */
  find(account: AccountId): OpenRemote | undefined {
    return this.#open.get(account);
  }

  remoteOf(account: AccountId): Remote | undefined {
    return this.#view.remotes.find((remote) => remote.account === account);
  }

  /**
   * The account that a project is bound to; undefined for a project that the home does not have.
   */
  bindingOf(project: ProjectId): AccountId | undefined {
    return this.#bindings.get(project);
  }

  /** Begins to sync. */
  start(): void {
    this.#started = true;
    for (const { engine } of this.#open.values()) engine.start();
  }

  /**
   * Links, bindings or remotes have changed: opens and closes remotes as necessary, and tells the
   * engines. `changed`: names of remotes whose token changed, which are opened again.
   */
  refresh(changed: readonly string[] = []): Promise<void> {
    const refreshed = this.#refreshes.then(() => this.#refresh(changed));
    this.#refreshes = refreshed.then(
      () => undefined,
      () => undefined,
    );
    return refreshed;
  }

  /**
   * Asks a project's service about it once although it is not linked. Resolves when the call is
   * over or the service can't be reached.
   */
  async visit(project: ProjectId): Promise<void> {
    this.#visited.add(project);
    try {
      await this.refresh();
      const account = this.#bindings.get(project);
      if (account !== undefined) await this.#open.get(account)?.engine.syncNow();
    } finally {
      this.#visited.delete(project);
      await this.refresh();
    }
  }

  /**
   * Syncs all remotes now. Resolves when the resulting calls are over. A person waits, who may have
   * opened the keyring, or can do so now.
   */
  async syncNow(): Promise<void> {
    await this.#shut.openNow();
    // A remote that was just written to may be about to be opened.
    await this.#refreshes;
    await Promise.all([...this.#open.values()].map(({ engine }) => engine.syncNow()));
  }

  /** Ends the backoff, because a person still waits. */
  hurry(urgency?: Urgency): void {
    for (const { engine } of this.#open.values()) engine.hurry(urgency);
  }

  /** The machine was asleep or is in another network; see `SyncEngine.woke`. */
  async woke(stoodStillMs: number): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ engine }) => engine.woke(stoodStillMs)));
  }

  /** The daemon is ending: ends the calls under way. */
  abandonCalls(): void {
    for (const { service } of this.#open.values()) service.abandonCalls?.();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopListening();
    this.abandonCalls();
    this.#unopened.end();
    this.#shut.end();
    await this.#refreshes;
    await Promise.all([...this.#open.values()].map(stopOne));
  }

  async #refresh(changed: readonly string[]): Promise<void> {
    if (this.#stopped) return;
    const { reader } = this.#options.store;
    this.#view = await readRemotes(reader, this.#options.environment);
    this.#bindings = await listBindings(reader);
    this.#unlinked = await this.#unlinkedToSync();
    const needed = await this.#needed();
    for (const [account, open] of [...this.#open]) {
      const now = needed.find((each) => each.account === account);
      const isSame = now && this.#describes(open, now) && !changed.includes(now.name);
      if (isSame) {
        this.#open.set(account, { ...open, remote: now });
        open.engine.refresh();
        continue;
      }
      // It stays in the list, closed, until its replacement is open.
      await stopOne(open);
      if (now) await this.#add(now);
      else this.#open.delete(account);
    }
    for (const remote of needed) if (!this.#open.has(remote.account)) await this.#add(remote);
  }

  /**
   * Of a project that is no longer linked its deletion is sent, or where its folder went, if that
   * was done here; with it what waited until then, and nothing else of it.
   */
  async #unlinkedToSync(): Promise<Map<ProjectId, string>> {
    const { store, links } = this.#options;
    const serviceOf = (account: AccountId) => serviceNameOf(this.remoteOf(account));
    const known = { links: links(), serviceOf };
    const deleted = await listUnsent(store.reader, { what: "deletion", ...known });
    const joined = await listUnsent(store.reader, { what: "join", ...known });
    const names = new Map<ProjectId, string>();
    for (const id of [...this.#visited, ...deleted, ...joined]) {
      names.set(id, (await findProjectName(store.reader, id)) ?? id);
    }
    return names;
  }

  /**
   * Whether a row deletes a project here that is not linked, or is the first memory of one's own at
   * a remote that was not in use.
   */
  #isToSend({ origin, address, changes }: CommittedRow): boolean {
    if (origin !== "local") return false;
    const project = projectOf(address.name);
    if (project === undefined) return !this.#open.has(address.owner);
    if (!changes.metadataKeys.has(DELETION_KEY)) return false;
    return !this.#isLinked(project);
  }

  #isLinked(project: ProjectId): boolean {
    return this.#options.links().some(({ projectId }) => projectId === project);
  }

  #refreshSoon(): void {
    this.refresh().catch((thrown) => {
      this.#options.log.error({ reason: messageOf(thrown) }, "remotes were not looked at");
    });
  }

  /** Whether an open service still fits what its remote is now. */
  #describes({ remote, isDefault }: OpenRemote, now: Remote): boolean {
    const sameToken =
      this.#options.environment.token === undefined || isDefault === this.#isDefault(now);
    return sameToken && remote.name === now.name && remote.url === now.url;
  }

  #isDefault({ account }: Remote): boolean {
    return account === this.#view.default?.account;
  }

  /** The default remote, and those of which the home has anything. */
  async #needed(): Promise<Remote[]> {
    const rows = await this.#options.store.reader
      .selectFrom("documents")
      .select("owner")
      .where("seq", ">", 0)
      .where("name", "in", documentsOf("own", LOCAL_USER))
      .distinct()
      .execute();
    const inUse = new Set<string>(rows.map(({ owner }) => owner));
    const linked = this.#options.links().map(({ projectId }) => projectId);
    for (const projectId of [...linked, ...this.#unlinked.keys()]) {
      const account = this.#bindings.get(projectId);
      if (account !== undefined) inUse.add(account);
    }
    const isNeeded = (each: Remote) => this.#isDefault(each) || inUse.has(each.account);
    return this.#view.remotes.filter(isNeeded);
  }

  async #add(remote: Remote): Promise<void> {
    this.#unopened.forget(remote.name);
    this.#shut.forget(remote.name);
    try {
      await this.#openOne(remote);
    } catch (thrown) {
      this.#unopened.add(remote.name);
      throw thrown;
    }
  }

  async #openOne(remote: Remote): Promise<void> {
    const { store, world, log, onContact, onAccount, ...others } = this.#options;
    const { onActivity, lookAtFiles, sendsSessions, isLinking, isTextAwaited } = others;
    const { account } = remote;
    const { service, isGuarded } = await this.#serviceOf(remote);
    await service.budget?.keepIn(budgetsIn(store), log);
    // A guard does it once it knows that the service is for what is here.
    if (!isGuarded) await store.write(({ db }) => forgetOtherServices(db, account, service.name));
    const engine = new SyncEngine({
      store,
      service,
      budget: service.budget,
      world,
      log,
      account,
      user: LOCAL_USER,
      projects: () => this.#projectsOf(account),
      isLinked: (project) => this.#isLinked(project),
      onContact: (units) => {
        if (units.some((unit) => unit !== "own" && this.#unlinked.has(unit))) this.#refreshSoon();
        onContact(units, account);
      },
      onAccount: (told) => {
        const open = this.#open.get(account);
        if (open) onAccount?.(open, told);
      },
      onActivity,
      lookAtFiles,
      sendsSessions,
      isLinking,
      isTextAwaited,
    });
    this.#open.set(account, { remote, service, engine, isDefault: this.#isDefault(remote) });
    if (this.#started) engine.start();
  }

  /** The synced projects that are bound to an account. */
  #projectsOf(account: AccountId): ReadonlyMap<ProjectId, string> {
    const linked = this.#options.links().map(({ projectId, name }) => [projectId, name] as const);
    const all = new Map([...this.#unlinked, ...linked]);
    return new Map([...all].filter(([id]) => this.#bindings.get(id) === account));
  }

  async #serviceOf(remote: Remote): Promise<{ service: Service; isGuarded?: boolean }> {
    const { world, openEmbedded } = this.#options;
    if (remote.url === undefined) return { service: await openEmbedded() };
    const unavailable = (why: Failure) => ({
      service: unavailableService(remote.url ?? "", why),
    });
    if (remote.url === UNKNOWN_SERVICE)
      return unavailable(failureBy({ code: "service-not-known" }));
    const answer = await this.#tokenOf(remote);
    if (answer.kind === "found") {
      const service = createHttpService({ url: remote.url, token: answer.token, world });
      // A stored token was tried when it was given.
      if (!answer.isGiven) return { service };
      const guarded = await guardToken(service, remote, this.#options.store);
      return { service: guarded, isGuarded: guarded !== service };
    }
    if (this.#view.follows) {
      throw new AppError(
        "invalid_request",
        "MEMSYNC_URL is set without MEMSYNC_TOKEN: set the service's token, or `memsync login`",
      );
    }
    if (answer.kind === "failed") {
      return unavailable(failureBy({ code: "token-unreadable", said: answer.message }));
    }
    const of = { remote: remote.name };
    if (answer.kind === "none") return unavailable(failureBy({ code: "no-token", ...of }));
    this.#shut.add(remote.name);
    return unavailable(failureBy({ code: "keyring-shut", ...of }));
  }

  /** The environment's token is for the service that it names, else for the default one. */
  async #tokenOf(remote: Remote): Promise<(FoundToken & { isGiven?: true }) | Failed> {
    const { environment, tokens } = this.#options;
    const { token } = environment;
    if (token !== undefined && this.#isDefault(remote))
      return { kind: "found", token, isGiven: true };
    try {
      return await tokens.find(remote);
    } catch (thrown) {
      return { kind: "failed", message: messageOf(thrown) };
    }
  }
}

async function stopOne({ engine, service }: OpenRemote): Promise<void> {
  service.abandonCalls?.();
  await engine.stop();
  await service.budget?.close();
  await service.close();
}
