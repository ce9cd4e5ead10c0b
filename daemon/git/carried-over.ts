import { commonLines, diffLines } from "../../shared/replica/text/line-diff.ts";

/** A text with what was changed elsewhere, as git merges it. */
export interface Carried {
  /** Where the two conflict it has both, the change behind what else the text has there. */
  readonly text: string;
  /** The lines of either at these places; undefined where nothing conflicts. */
  readonly disputed: readonly string[] | undefined;
}

/**
 * A text with what was changed from `before` to `after`, as git merges it; undefined where that
 * conflicts with what else the text has there.
 */
export function carriedOver(text: string, before: string, after: string): string | undefined {
  const carried = carriedBeside(text, before, after);
  return carried.disputed ? undefined : carried.text;
}

/** The same, with both where they conflict: what git shows between its marks. */
export function carriedBeside(text: string, before: string, after: string): Carried {
  if (text === before) return { text: after, disputed: undefined };
  const lines = text.split("\n");
  const was = before.split("\n");
  const is = after.split("\n");
  const stays = new Map(commonLines(was, lines));
  const own = diffLines(was, lines);
  const made: string[] = [];
  const disputed: string[] = [];
  let isDisputed = false;
  let done = 0;
  for (const { at, removed, from, added } of diffLines(was, is)) {
    const put = is.slice(from, from + added);
    const beside = own.filter((each) => each.at <= at + removed && at <= each.at + each.removed);
    const [same] = beside;
    if (same) {
      const has = beside.flatMap((each) => lines.slice(each.from, each.from + each.added));
      const isSame = beside.length === 1 && same.at === at && same.removed === removed;
      if (isSame && has.join("\n") === put.join("\n")) continue;
      isDisputed = true;
      const equal = new Set(commonLines(has, put).map(([, twin]) => twin));
      const ends = beside.map((each) => each.from + each.added);
      const end = Math.max(done, (stays.get(at + removed - 1) ?? -1) + 1, ...ends);
      made.push(...lines.slice(done, end), ...put.filter((_, nth) => !equal.has(nth)));
      disputed.push(...has, ...put);
      done = end;
      continue;
    }
    const start = at === 0 ? 0 : (stays.get(at - 1) ?? 0) + 1;
    made.push(...lines.slice(done, start), ...put);
    done = start + removed;
  }
  const all = [...made, ...lines.slice(done)].join("\n");
  return { text: all, disputed: isDisputed ? disputed : undefined };
}
