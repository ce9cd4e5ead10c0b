import { createHash } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import type { World } from "../../shared/world.ts";
import type { Home } from "../home/home.ts";
import type { Remote, TokenPlace } from "../home/remote.ts";
import { readFromFile, writeToFile } from "./credentials-file.ts";
import { type Keyring, keyringWorks } from "./keyring.ts";

/** Where tokens of services are kept, and what is asked of it. */
export interface TokenStoreOptions {
  readonly home: Home;
  readonly world: World;
  /** Undefined: there is none to use. */
  readonly keyring: Keyring | undefined;
}

/** A token that was looked for where it was put. */
export type FoundToken =
  | { readonly kind: "found"; readonly token: string }
  | { readonly kind: "none" }
  /** The keyring does not give it now, as one that is locked does not; it may later. */
  | { readonly kind: "locked" };

/** The tokens of a home's remotes: in the system's keyring when it works, else in a 0600 file. */
export class TokenStore {
  readonly #options: TokenStoreOptions;

  constructor(options: TokenStoreOptions) {
    this.#options = options;
  }

  /** Keeps a token, durably, in the place that it resolves to; it is in no other place then. */
  async put(remote: Remote, token: string): Promise<TokenPlace> {
    const { home, world, keyring } = this.#options;
    const id = this.#idOf(remote);
    if (keyring && (await keyringWorks(keyring, world))) {
      const stored = await keyring.set(id, token);
      if (stored.kind === "done") {
        await writeToFile(home.credentials, world, { id, token: undefined });
        return "keyring";
      }
    }
    await writeToFile(home.credentials, world, { id, token });
    // One of a former login; where the keyring does not work there is nothing to be done about it.
    if (remote.tokenPlace === "keyring") await keyring?.delete(id);
    return "file";
  }

  async find(remote: Remote): Promise<FoundToken> {
    const id = this.#idOf(remote);
    if (remote.tokenPlace === undefined) return { kind: "none" };
    if (remote.tokenPlace === "file") {
      return found(readFromFile(this.#options.home.credentials, id));
    }
    const answer = await this.#options.keyring?.get(id);
    const token = answer?.kind === "done" ? answer.value : null;
    return token === null ? { kind: "locked" } : { kind: "found", token };
  }

  /** Takes a token out of wherever it is. Throws when the keyring holds it and does not answer. */
  async remove(remote: Remote): Promise<void> {
    const { home, world, keyring } = this.#options;
    const id = this.#idOf(remote);
    await writeToFile(home.credentials, world, { id, token: undefined });
    if (remote.tokenPlace !== "keyring") return;
    const answer = await keyring?.delete(id);
    if (answer?.kind === "done") return;
    throw new AppError(
      "internal",
      "the system's keyring does not answer, so the token is still there: unlock it and try again",
    );
  }

  /** Two homes on one machine keep theirs apart. */
  #idOf({ account }: Remote): string {
    const home = createHash("sha256").update(this.#options.home.dir).digest("hex").slice(0, 16);
    return `${home}/${account}`;
  }
}

function found(token: string | undefined): FoundToken {
  return token === undefined ? { kind: "none" } : { kind: "found", token };
}
