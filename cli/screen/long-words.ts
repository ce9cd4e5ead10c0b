/** What was typed is repeated whole up to this length, which a key may have. */
const REPEATED_MAX = 600;
const BEGINNING = 80;
/** No sentence of ours is longer; what another program said may be. */
const MESSAGE_MAX = 4000;
const ENDS = 300;

/**
 * A message without what is too long to be read: what was typed is cut where it is quoted, as it is
 * or as a word for a shell, and so is any other word.
 */
export function shortened(message: string, args: readonly string[]): string {
  if (message.length <= REPEATED_MAX) return message;
  const long = args.filter(({ length }) => length > REPEATED_MAX);
  const quoted = long.flatMap((each) => [each, each.replaceAll("'", "'\\''")]);
  const said = quoted
    .reduce((left, each) => left.replaceAll(each, () => cutShort(each)), message)
    .replace(LONG_WORD, cutShort);
  if (said.length <= MESSAGE_MAX) return said;
  return `${said.slice(0, ENDS).trimEnd()} … ${said.slice(-ENDS).trimStart()}`;
}

const LONG_WORD = new RegExp(`\\S{${REPEATED_MAX + 1},}`, "g");

function cutShort(word: string): string {
  return `${word.slice(0, BEGINNING).trimEnd()}… (${word.length} characters)`;
}
