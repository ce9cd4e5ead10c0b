import { AppError } from "../../shared/errors.ts";
import type { World } from "../../shared/world.ts";
import type { Home } from "../home/home.ts";
import type { Remote, TokenPlace } from "../home/remote.ts";
import { type EntriesOf, entryIdAt, readFromFile, writeToFile } from "./credentials-file.ts";
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
    const of = this.#of(remote);
    const id = entryIdAt(of);
    if (keyring && (await keyringWorks(keyring, world))) {
      const stored = await keyring.set(id, token);
      if (stored.kind === "done") {
        await writeToFile(home.credentials, world, { ...of, token: undefined });
        return "keyring";
      }
    }
    await writeToFile(home.credentials, world, { ...of, token });
    // From a former login. Where the keyring does not work, nothing can be done about it.
    if (remote.tokenPlace === "keyring") await keyring?.delete(id);
    return "file";
  }

  async find(remote: Remote): Promise<FoundToken> {
    const of = this.#of(remote);
    if (remote.tokenPlace === undefined) return { kind: "none" };
    if (remote.tokenPlace === "file") {
      return found(readFromFile(this.#options.home.credentials, of));
    }
    const answer = await this.#options.keyring?.get(entryIdAt(of));
    const token = answer?.kind === "done" ? answer.value : null;
    return token === null ? { kind: "locked" } : { kind: "found", token };
  }

  /** Removes a token from wherever it is. Throws if the keyring has it and can't be used now. */
  async remove(remote: Remote): Promise<void> {
    const { home, world, keyring } = this.#options;
    const of = this.#of(remote);
    await writeToFile(home.credentials, world, { ...of, token: undefined });
    if (remote.tokenPlace !== "keyring") return;
    // One that is locked says that it deleted, and still has it. What it does for another secret,
    // it does for this one.
    const isOpen = keyring !== undefined && (await keyringWorks(keyring, world));
    if (isOpen && (await keyring.delete(entryIdAt(of))).kind === "done") return;
    throw new AppError(
      "internal",
      "the system's keyring does not answer, so the token is still there: unlock it and try again",
    );
  }

  #of({ account }: Remote): EntriesOf {
    return { dir: this.#options.home.dir, account };
  }
}

function found(token: string | undefined): FoundToken {
  return token === undefined ? { kind: "none" } : { kind: "found", token };
}
