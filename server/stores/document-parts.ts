/** The tables with parts of a document, which they name by `document_id`. */
export const OF_DOCUMENTS = [
  "updates",
  "snapshots",
  "epochs",
  "texts",
  "memories",
  "metadata",
  "revisions",
  "revision_packs",
  "text_conflicts",
] as const;
