/** Another project, to which a folder of a project was linked; as in a status. */
export interface JoinedStatus {
  readonly id: string;
  /** Null where it has none. */
  readonly name: string | null;
  readonly at: string;
  /** The machine that linked it; null where that is not known. */
  readonly machine: string | null;
  /** A folder of this machine that is still linked to the former one; null where none is. */
  readonly dir: string | null;
}
