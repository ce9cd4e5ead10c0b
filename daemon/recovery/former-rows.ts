import { parseReason } from "../../shared/reasons.ts";
import type { SqlValue } from "../../shared/sqlite/connection.ts";
import { hashesOf, ownTextsOf } from "../home/personal-lines.ts";
import { PERSONAL_MARK } from "../home/personal-mark.ts";
import type { DamagedTable } from "./read-damaged.ts";

type Row = Readonly<Record<string, SqlValue>>;

/** What a table was called before; nothing migrates a damaged database. */
export const FORMER_NAMES: Readonly<Record<string, string>> = { allowances: "allowed_secrets" };

/** A held write with the word of today for its cause. */
export function withPresentCause(row: Row): Row {
  return row.cause === "secret" ? { ...row, cause: "private" } : row;
}

/** A personal text's file whose decision had what was shown behind it. */
export function withPresentDecision(row: Row): Row {
  const [settled, takes] = String(row.settled ?? "").split(" ");
  return takes === undefined ? row : { ...row, settled: settled ?? null, takes };
}

/** The lines of one's own text: those that were noted, and those that are known without that. */
export function personalLineRows(
  {
    personal_lines,
    personal_versions,
  }: { readonly personal_lines: DamagedTable; readonly personal_versions: DamagedTable },
  held: readonly Row[],
): Row[] {
  const texts = [
    ...personal_versions.rows.map(({ value }) => String(value).replace(PERSONAL_MARK, "")),
    ...held.flatMap(ownTextsOfRow),
  ];
  const noted = personal_lines.rows.map(({ hash }) => hash ?? null);
  return [...new Set([...noted, ...texts.flatMap(hashesOf)])].map((hash) => ({ hash }));
}

/** `document`: of a row that can be kept. */
function ownTextsOfRow({ document, key, value, reason }: Row): readonly string[] {
  if (typeof value !== "string") return [];
  const why = parseReason(`${reason}`);
  return ownTextsOf({ document: `${document}`, key: `${key}`, value, reason: why });
}
