/** Another project, to which a folder of a project was linked; as in a status. */
export interface JoinedStatus {
  readonly id: string;
  /** Null where it has none. */
  readonly name: string | null;
  /** The project that the folder was in, and of which this is said. */
  readonly from: string;
  readonly at: string;
  /** The machine that linked it; null where that is not known. */
  readonly machine: string | null;
  /**
   * The other project is that of folders that were in this one for a while: it is one of its own
   * again.
   */
  readonly is_return: boolean;
  /** The former project was deleted since. */
  readonly is_deleted: boolean;
  /** It was linked on this machine, which has other folders in the former project. */
  readonly here: boolean;
  /**
   * It was linked on this machine, whose folder is there no more: a link of the first of `dirs` to
   * the former project ends the join for every machine.
   */
  readonly is_left: boolean;
  /**
   * The folders of this machine that are still linked to the former project; of a return those that
   * surely followed.
   */
  readonly dirs: readonly string[];
}
