import { AppError } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Home } from "../home/home.ts";
import type { RemoteEnvironment } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { Whose } from "../home/whose.ts";
import type { Audiences } from "./audiences.ts";
import type { OpenRemotes } from "./open-remotes.ts";
import { findUnkept, isOfOthers, type Unkept } from "./unkept-variable.ts";

interface OthersWritesOptions {
  readonly home: Home;
  readonly store: ReplicaStore<DaemonTables>;
  /** The variables that the daemon was started with. */
  readonly environment: RemoteEnvironment;
  readonly remotes: OpenRemotes;
  readonly audiences: Audiences;
}

/**
 * Keeps out of `user` and `global` what is written through a daemon that was started with another's
 * token or service: it would become the home's user's, or all of the account's, later. Commands
 * refuse the same by `isOfOthers`, for their shell's variables.
 */
export class OthersWrites {
  readonly #options: OthersWritesOptions;

  constructor(options: OthersWritesOptions) {
    this.#options = options;
  }

  /** For whom the daemon runs, as its service has told of its token. */
  async whose(account: AccountId): Promise<Whose> {
    const { blockedBy } = this.#options.remotes.find(account)?.service ?? {};
    if (blockedBy?.code === "token-of-another") return "another";
    const unkept = await this.#unkept();
    if (!isOfOthers(unkept, account)) return "home";
    return unkept?.code === "unknown-service" ? "another" : "unknown";
  }

  /** Throws for a layer that is nobody else's. A new token's user is asked for, for a moment. */
  async refuse(account: AccountId, layer: Layer): Promise<void> {
    if (layer === "project" || (await this.whose(account)) === "home") return;
    const open = this.#options.remotes.find(account);
    if (open) await this.#options.audiences.before(open);
    const whose = await this.whose(account);
    if (whose === "home") return;
    const why = open?.service.blockedBy?.message ?? detailOf(await this.#unkept());
    throw new AppError(
      "forbidden",
      `nothing in ${layer} is changed through this daemon, ` +
        (whose === "another"
          ? `which was not started as the home's user: ${why}. \`memsync stop\`, then ` +
            "`memsync start` in that user's shell"
          : `which is not known to be the home's user's: ${why}. It takes changes once the ` +
            "service has told whose the token is"),
    );
  }

  async #unkept(): Promise<Unkept | undefined> {
    const { store, home, environment } = this.#options;
    return await findUnkept(store.reader, home, environment);
  }
}

function detailOf(unkept: Unkept | undefined): string {
  switch (unkept?.code) {
    case "another-token":
      return `its MEMSYNC_TOKEN is not known to be ${unkept.user ?? "that user"}'s`;
    case "another-service":
      return `its MEMSYNC_URL is another than the home's service until now, ${unkept.synced}`;
    default:
      return "its MEMSYNC_URL is no remote of this home's";
  }
}
