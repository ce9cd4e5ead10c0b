import { join } from "node:path";
import { serenaFolders } from "../../daemon/assistants/serena/memory-folders.ts";
import type { TestedFormat } from "./memory-machines.ts";

/** Serena's memories of the linked project. */
export const SERENA: TestedFormat = {
  format: { kind: "serena", prefix: "serena/", ending: ".md", isDeep: true },
  folderOf: ({ project }) => join(project, ".serena", "memories"),
  sourceOf: ({ folder }) => serenaFolders(join(folder, ".serena")),
};

/** Serena's memories of the person. */
export const SERENA_GLOBAL: TestedFormat = {
  format: { ...SERENA.format, prefix: "serena/global/" },
  folderOf: ({ folder }) => join(folder, ".serena", "memories", "global"),
  sourceOf: SERENA.sourceOf,
};
