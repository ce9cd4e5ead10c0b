import {
  forgetTextConflict,
  listTextConflicts,
  type TextConflictRecord,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { contentLines, splitLines } from "./text-lines.ts";

/** Whether lines that git set aside on this machine are still an open conflict. */
export function isAsideHere(open: OpenDocument): boolean {
  return asideHere(open).length > 0;
}

/** Settles the conflicts about lines that git had set aside and that the file has again. */
export function settleAside(open: OpenDocument, content: string): void {
  const lines = new Set(contentLines(content));
  for (const { id, versions } of asideHere(open)) {
    const stood = versions.filter(({ machine }) => machine !== open.writer.machine);
    const kept = stood.flatMap(({ text }) => splitLines(text).filter(hasWord));
    if (kept.every((line) => lines.has(line))) forgetTextConflict(open.document, id);
  }
}

function asideHere({ document, writer }: OpenDocument): TextConflictRecord[] {
  return listTextConflicts(document).filter(({ kind, versions }) => {
    const isHere = versions.some(({ machine }) => machine === writer.machine);
    return kind === "set-aside" && isHere;
  });
}
