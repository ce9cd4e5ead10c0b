import type { OfToken } from "./of-token.ts";

/** A memory of a seed; without a key it is given one. */
export interface SeedMemory {
  readonly key?: string;
  readonly value: string;
}

/** What an account has, in the form of `memsync export`. */
export interface EmulatorSeed {
  readonly format?: 1;
  readonly projects?: readonly {
    readonly id?: string;
    readonly name?: string;
    readonly claude_md_content?: string;
    readonly metadata?: object;
    readonly memories?: readonly SeedMemory[];
    readonly sessions?: readonly object[];
  }[];
  readonly user?: { readonly memories?: readonly SeedMemory[] };
  readonly global?: { readonly memories?: readonly SeedMemory[] };
  /** Those of no project. */
  readonly sessions?: readonly object[];
  readonly connections?: readonly { readonly project_ids: readonly string[] }[];
}

/** States by name: of one token's account, or of all together. */
export interface EmulatorSnapshots {
  /** In place of one of this name. */
  save(name: string, of?: OfToken): Promise<void>;
  /** Makes what is stored what it was when the snapshot was saved; clients notice the change. */
  restore(name: string, of?: OfToken): Promise<void>;
  list(of?: OfToken): readonly string[];
  delete(name: string, of?: OfToken): Promise<void>;
}
