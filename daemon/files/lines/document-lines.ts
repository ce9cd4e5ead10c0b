import type { CapturedLine } from "./text-lines.ts";

/**
 * The indices of the only lines beside the base that say this; none where others have changed them
 * since, undefined where there are several.
 */
export function onlyRunOf(
  lines: readonly CapturedLine[],
  isBeside: readonly boolean[],
  texts: readonly string[],
): number[] | undefined {
  const isHere = (from: number) =>
    texts.every((text, i) => isBeside[from + i] && lines[from + i]?.text === text);
  const [from, ...more] = lines.flatMap((_, at) => (isHere(at) ? [at] : []));
  if (from === undefined) return [];
  return more.length > 0 ? undefined : texts.map((_, i) => from + i);
}

/**
 * Some lines of the document by the line of `own` that they stand behind there: those at index `n`
 * stand behind the first `n` lines.
 */
export function linesBehind(
  own: readonly CapturedLine[],
  lines: readonly CapturedLine[],
  meant: ReadonlySet<number>,
): readonly (readonly CapturedLine[])[] {
  const places = new Map(own.map((line, at) => [nameOf(line), at]));
  const behind: CapturedLine[][] = [[], ...own.map(() => [])];
  let last = 0;
  for (const [at, line] of lines.entries()) {
    if (meant.has(at)) behind[last]?.push(line);
    const name = nameOf(line);
    const place = name === undefined ? undefined : places.get(name);
    if (place !== undefined) last = place + 1;
  }
  return behind;
}

/** Tells a line of the document from all its others. */
function nameOf({ spans }: CapturedLine): string | undefined {
  const first = spans.find(({ client }) => client !== null);
  return first && `${first.client} ${first.clock}`;
}
