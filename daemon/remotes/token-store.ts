import { createHash } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import type { World } from "../../shared/world.ts";
import type { Home } from "../home/home.ts";
import type { Remote, TokenPlace } from "../home/remote.ts";
import { readFromFile, writeToFile } from "./credentials-file.ts";
import { type Keyring, keyringWorks } from "./keyring.ts";

/** Where services' tokens are stored. */
export interface TokenStoreOptions {
  readonly home: Home;
  readonly world: World;
  /** Undefined: there is no keyring to use. */
  readonly keyring: Keyring | undefined;
}

/** The result of looking for a token where it was stored. */
export type FoundToken =
  | { readonly kind: "found"; readonly token: string }
  | { readonly kind: "none" }
  /** The keyring, perhaps locked, does not return it now. It may later. */
  | { readonly kind: "locked" };

/**
 * The tokens of a home's remotes: in the system's keyring if that works, else in a file of mode
 * 0600.
 */
export class TokenStore {
  readonly #options: TokenStoreOptions;

  constructor(options: TokenStoreOptions) {
    this.#options = options;
  }

  /** Stores a token durably and resolves to the place. It is removed from the other place. */
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
    // From a former login. Where the keyring does not work, nothing can be done about it.
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

  /** Removes a token from wherever it is. Throws if the keyring has it and can't be used now. */
  async remove(remote: Remote): Promise<void> {
    const { home, world, keyring } = this.#options;
    const id = this.#idOf(remote);
    await writeToFile(home.credentials, world, { id, token: undefined });
    if (remote.tokenPlace !== "keyring") return;
    // One that is locked says that it deleted, and still has it. What it does for another secret,
    // it does for this one.
    const isOpen = keyring !== undefined && (await keyringWorks(keyring, world));
    if (isOpen && (await keyring.delete(id)).kind === "done") return;
    throw new AppError(
      "internal",
      "the system's keyring does not answer, so the token is still there: unlock it and try again",
    );
  }

  /** Two homes on one machine have separate tokens. */
  #idOf({ account }: Remote): string {
    const home = createHash("sha256").update(this.#options.home.dir).digest("hex").slice(0, 16);
    return `${home}/${account}`;
  }
}

function found(token: string | undefined): FoundToken {
  return token === undefined ? { kind: "none" } : { kind: "found", token };
}
