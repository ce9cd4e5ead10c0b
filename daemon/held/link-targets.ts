/** A link or a picture on one line, whose target has no blank, by that or by the name of one. */
const PLAIN_LINK =
  /!?\[([^[\]\n]*)\](?:\((?:<[^<>\n]*>|[^()\s<>]*)(?:[ \t]+"[^"\n]*")?\)|\[[^[\]\n]*\])/g;
/** Where a link leads, in the forms that have no parentheses; what they show is `$1`. */
const TARGETS: readonly RegExp[] = [
  // A definition: [words]: https://example.com "title"
  /^([ \t]*\[[^[\]\n]+\]):[ \t]*\S+(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$/gm,
  // By the name of a definition: [words][name]
  /(\])\[[^[\]]*\]/g,
  // A wiki's: [[page|words]]
  /(\[\[)[^[\]|\n]*\|/g,
  // A footnote's mark: [^1]
  /()\[\^[^[\]\s]*\]/g,
  // A bare one: <https://example.com>, <ann@example.com>
  /()<(?:[a-z][a-z0-9+.-]*:|[^<>\s@:]+@)[^<>\s]*>/gi,
];
const HAS_LINK = /\]\(|\]\[|\]:|\[\[|\[\^|<[^<>\s]*[:@]/;
/** Signs that begin or end a target in parentheses; an escaped one does neither. */
const SIGNS = /\\[^\s\w]|\]\(\s*<|\]?\(|\)|>|["']\s*(?=\))|(?<=\s)["']/g;
const BLANK_LINES = /(\n[ \t\r]*(?=\n))/;

/**
 * A text without what its links lead to, in as many lines; the brackets around a link's words are
 * no letters. What is only like a link in parentheses is taken out as well: to be read beside the
 * text itself, and beside `withoutPlainLinks`.
 */
export function withoutLinks(text: string): string {
  if (!HAS_LINK.test(text)) return text;
  const bare = text.split(BLANK_LINES).map(withoutTargets).join("");
  return TARGETS.reduce(
    (rest, target) =>
      rest.replace(
        target,
        (whole, shown: string) => shown + lineBreaksOf(whole.slice(shown.length)),
      ),
    bare,
  );
}

/** A text without what its plainest links lead to, whatever stands around them. */
export function withoutPlainLinks(text: string): string {
  return HAS_LINK.test(text) ? text.replace(PLAIN_LINK, "$1") : text;
}

/** A paragraph without its targets in parentheses, with or without a title. */
function withoutTargets(paragraph: string): string {
  if (!paragraph.includes("](")) return paragraph;
  const lastEnd = { ">": paragraph.lastIndexOf(">"), ...lastTitleEnds(paragraph) };
  const open: { readonly at: number; readonly isLink: boolean }[] = [];
  const targets: { readonly from: number; readonly to: number }[] = [];
  let quote: ">" | '"' | "'" | undefined;
  for (const { 0: sign, index } of paragraph.matchAll(SIGNS)) {
    const [first = ""] = sign;
    if (quote) {
      const isEnd = first === quote && (quote === ">" || paragraph[index + sign.length] === ")");
      if (isEnd) quote = undefined;
    } else if (sign.startsWith("](") || sign === "(") {
      const isLink = first === "]";
      open.push({ at: index + (isLink ? 1 : 0), isLink });
      if (sign.endsWith("<") && index < lastEnd[">"]) quote = ">";
    } else if (sign === ")") {
      const last = open.pop();
      if (last?.isLink) addTarget(targets, { from: last.at, to: index + 1 });
    } else if (first === '"' || first === "'") {
      // A title stands apart; a sign that nothing ends is no title's beginning.
      const isApart = /\s/.test(paragraph[index - 1] ?? "");
      if (isApart && open.at(-1)?.isLink && index < lastEnd[first]) quote = first;
    }
  }
  const kept: string[] = [];
  let at = 0;
  for (const { from, to } of targets) {
    kept.push(paragraph.slice(at, from), lineBreaksOf(paragraph.slice(from, to)));
    at = to;
  }
  return [...kept, paragraph.slice(at)].join("");
}

/** Where the last title in each kind of quotes ends. */
function lastTitleEnds(paragraph: string): Record<'"' | "'", number> {
  const ends = { '"': -1, "'": -1 };
  for (const { 0: sign, index } of paragraph.matchAll(/["']\s*(?=\))/g)) {
    ends[sign.startsWith('"') ? '"' : "'"] = index;
  }
  return ends;
}

/** A target has those that stand in it. */
function addTarget(
  targets: { readonly from: number; readonly to: number }[],
  target: { readonly from: number; readonly to: number },
): void {
  while ((targets.at(-1)?.from ?? -1) > target.from) targets.pop();
  targets.push(target);
}

function lineBreaksOf(text: string): string {
  return "\n".repeat(text.split("\n").length - 1);
}
