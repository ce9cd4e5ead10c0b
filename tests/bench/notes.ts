/** A memory by its key. */
export interface Note {
  readonly key: string;
  readonly value: string;
}

/** This many memories of the size that notes have. */
export function notes(count: number): Note[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `note-${index}`,
    value: `Decision ${index}: the importer reads each file once, keeps its line endings and mode.`,
  }));
}
