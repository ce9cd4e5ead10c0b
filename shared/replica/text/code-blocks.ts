/** A line that opens or closes a fenced code block: its fence, what follows, its break if any. */
const FENCE = /^\s*(`{3,}|~{3,})(.*)\s*$/;

/** Whether a line may open or close a code block. CommonMark is stricter. */
export function isFence(line: string): boolean {
  return FENCE.test(line);
}

/**
 * The ranges [from, to) of lines that are one fenced code block each and must not be split. If the
 * lines begin or end inside of a block, the part up to its fence is such a range, too.
 */
export function findCodeBlocks(lines: readonly string[]): readonly (readonly [number, number])[] {
  const outside = scan(lines, false);
  if (outside.balanced) return outside.blocks;
  const inside = scan(lines, true);
  return inside.balanced ? inside.blocks : outside.blocks;
}

function scan(lines: readonly string[], beginsInside: boolean) {
  const blocks: [number, number][] = [];
  /** An empty mark: the block's opening fence is not among the lines. */
  let open = beginsInside ? { at: 0, mark: "" } : undefined;
  let balanced = true;
  for (const [i, line] of lines.entries()) {
    const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
    if (mark === "") continue;
    if (open === undefined) {
      open = { at: i, mark };
    } else if (info.trim() === "" && mark.startsWith(open.mark)) {
      blocks.push([open.at, i + 1]);
      open = undefined;
    } else if (open.mark === "") {
      balanced = false;
    }
  }
  if (open !== undefined) blocks.push([open.at, lines.length]);
  return { blocks, balanced: balanced && open === undefined };
}
