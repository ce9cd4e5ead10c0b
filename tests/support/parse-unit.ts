/** What a unit says, read by the rules of systemd.syntax(7) and not by the program's own code. */
export interface ParsedUnit {
  /** The values of each key, by `Section.Key`, in order. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export function parseUnit(text: string): ParsedUnit {
  const values = new Map<string, string[]>();
  let section = "";
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, header] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (header !== undefined) {
      section = header;
      continue;
    }
    const [, key = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    const name = `${section}.${key}`;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const environment = (values.get("Service.Environment") ?? []).flatMap(words);
  return {
    values,
    command: words(values.get("Service.ExecStart")?.[0] ?? "").map((word) =>
      word.replaceAll("$$", "$"),
    ),
    environment: Object.fromEntries(
      environment.map((each) => [
        each.slice(0, each.indexOf("=")),
        each.slice(each.indexOf("=") + 1),
      ]),
    ),
  };
}

/** Words in quotes or not, with C escapes, and `%%` for `%`. */
function words(text: string): string[] {
  const found = text.match(/(?:"(?:\\.|[^"\\])*"|\\.|[^\s"\\])+/g) ?? [];
  return found.map((word) =>
    word
      .replace(/"((?:\\.|[^"\\])*)"/g, "$1")
      .replace(/\\(.)/g, (_, character) => (character === "n" ? "\n" : character))
      .replaceAll("%%", "%"),
  );
}
