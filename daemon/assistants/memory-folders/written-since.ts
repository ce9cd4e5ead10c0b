import { type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";

/** Whether a file has shown all of these entries; else somebody has written its memory since. */
export function areShown(entries: readonly EntryId[], seen: readonly EntryId[]): boolean {
  return entries.every((id) => seen.some((each) => sameId(each, id)));
}
