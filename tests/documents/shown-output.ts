interface Kind {
  /** What it looks like. */
  readonly looks: string;
  /** What stands before it, and behind it. */
  readonly behind?: string;
  readonly before?: string;
  /** It is a thing's name: the same wherever a document means this thing. */
  readonly isName?: true;
}

/** What differs from run to run in what a document shows. */
const KINDS: readonly Kind[] = [
  { looks: String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z` },
  { looks: String.raw`\d{4}-\d\d-\d\d \d\d:\d\dZ` },
  { looks: String.raw`\d\d:\d\d(?::\d\d)?`, behind: "\\b", before: "\\b" },
  { looks: "(?:proj|acct|mem|req)_[a-z2-7]{16,26}", behind: "\\b", before: "\\b", isName: true },
  { looks: "proj_conformance_(?:one|two)_[0-9a-f]{16}" },
  { looks: "note-[a-z2-7]{16}", isName: true },
  { looks: String.raw`mst_(?!dev_)\w+` },
  { looks: String.raw`[\w+/-]{22}`, behind: '"epoch":"', before: '"', isName: true },
  { looks: "[0-9A-Za-z+/=]+", behind: '"update":"' },
  { looks: String.raw`[\w-]{8,}`, behind: '"next_cursor":"|cursor=' },
  { looks: '"[0-9a-z]+"', behind: "ETag: " },
  { looks: String.raw`\d+`, behind: ";[rt]=" },
  { looks: String.raw`\d+`, behind: '"(?:remaining|used|storage_bytes)":' },
  { looks: String.raw`\d+`, behind: "\\b", before: " bytes\\b" },
  { looks: String.raw`\d+`, behind: String.raw`127\.0\.0\.1:` },
  { looks: "[a-z2-7]{8}", behind: String.raw`\b(?=[a-z]*[2-7])`, before: "\\b", isName: true },
];

const FINDS = KINDS.map(({ looks, behind, before }, at) => {
  const after = behind === undefined ? "" : behind.startsWith("\\b") ? behind : `(?<=${behind})`;
  return `(?<kind${at}>${after}${looks}${before === undefined ? "" : `(?=${before})`})`;
});

const ANYTHING = String.raw`[\s\S]*?`;

const DIFFERENT = new RegExp([...FINDS, "…"].join("|"), "g");

const withoutSpace = (text: string) => text.replaceAll(/\s+/g, "");

/** By what a document calls a thing, what the thing is called in this run. */
export type Names = Map<string, string>;

/** The pattern of what is printed where a document shows `shown`, and the names in its groups. */
function patternOf(shown: string, known: Names): readonly [RegExp, readonly string[]] {
  const names: string[] = [];
  const patternOfName = (name: string, { looks }: Kind) => {
    if (names.includes(name)) return `\\k<name${names.indexOf(name)}>`;
    names.push(name);
    const called = known.get(name);
    return `(?<name${names.length - 1}>${called === undefined ? looks : RegExp.escape(called)})`;
  };
  let pattern = "";
  let end = 0;
  for (const { 0: found, index, groups = {} } of shown.matchAll(DIFFERENT)) {
    pattern += RegExp.escape(withoutSpace(shown.slice(end, index)));
    end = index + found.length;
    const kind = KINDS.find((_, at) => groups[`kind${at}`] !== undefined);
    if (!kind) pattern += ANYTHING;
    else pattern += kind.isName ? patternOfName(found, kind) : withoutSpace(kind.looks);
  }
  pattern += RegExp.escape(withoutSpace(shown.slice(end)));
  return [new RegExp(`^${pattern}$`), names];
}

/**
 * Whether `printed` is what a document shows, but for what differs from run to run, white space,
 * and what `…` leaves out. `known` learns what things are called in this run.
 */
export function isShown(shown: string, printed: string, known: Names): boolean {
  const [pattern, names] = patternOf(shown, known);
  const match = pattern.exec(withoutSpace(printed));
  for (const [at, name] of names.entries()) if (match) known.set(name, match[at + 1] ?? "");
  return match !== null;
}
