import { commonLines, diffLines } from "../../shared/replica/text/line-diff.ts";

/**
 * A text with what was changed from `before` to `after`, as git merges it; undefined where that
 * conflicts with what else the text has there.
 */
export function carriedOver(text: string, before: string, after: string): string | undefined {
  if (text === before) return after;
  const lines = text.split("\n");
  const was = before.split("\n");
  const is = after.split("\n");
  const stays = new Map(commonLines(was, lines));
  const own = diffLines(was, lines);
  const made: string[] = [];
  let done = 0;
  for (const { at, removed, from, added } of diffLines(was, is)) {
    const put = is.slice(from, from + added);
    const beside = own.filter((each) => each.at <= at + removed && at <= each.at + each.removed);
    const [same] = beside;
    if (same) {
      const has = lines.slice(same.from, same.from + same.added);
      const isSame = beside.length === 1 && same.at === at && same.removed === removed;
      if (isSame && has.join("\n") === put.join("\n")) continue;
      return undefined;
    }
    const start = at === 0 ? 0 : (stays.get(at - 1) ?? 0) + 1;
    made.push(...lines.slice(done, start), ...put);
    done = start + removed;
  }
  return [...made, ...lines.slice(done)].join("\n");
}
