/** How one line of an ignore file is read. */
export interface IgnoreLine {
  /** The first is 1. */
  readonly number: number;
  readonly text: string;
  /** Patterns as git writes them: what the line says by the letter, and what it may mean. */
  readonly patterns: readonly string[];
  /**
   * What its author is to be told. `two-readings`: whatever either of them names is ignored.
   * `no-name`: it names nothing that the folder can have.
   */
  readonly odd: "two-readings" | "no-name" | undefined;
}

/**
 * Reads the lines of a text in the syntax of `.gitignore`. A line that git takes for a name that no
 * file has was meant to keep something: what it can mean is ignored as well, for what stays here in
 * vain can be seen in a preview, and what was sent can't be taken back. `dir`: the file's folder.
 *
 * ```
 * readIgnoreLines("./a.md").map(({ patterns }) => patterns); // [["./a.md", "/a.md"]]
 * ```
 */
export function readIgnoreLines(text: string, dir?: string): IgnoreLine[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n|\r/);
  return lines.map((line, at) => ({ number: at + 1, text: line, ...readLine(line, dir) }));
}

function readLine(line: string, dir: string | undefined): Pick<IgnoreLine, "patterns" | "odd"> {
  const bare = withoutEnd(line);
  if (bare === "" || /^\s*#/.test(bare)) return { patterns: [line], odd: undefined };
  if (bare.startsWith("!")) {
    // In doubt nothing more leaves the machine.
    const { patterns, odd } = readLine(bare.slice(1), dir);
    const isPlain = odd === undefined && patterns.length === 1;
    return { patterns: [line], odd: isPlain ? undefined : "no-name" };
  }
  const readings = readingsOf(bare);
  const all = [bare, ...readings];
  const outside = all.filter((each) => isOutside(each, dir));
  const meant = all.flatMap((each) => {
    return outside.includes(each) ? lastNames(each) : [pathFrom(each, dir)];
  });
  const isVain =
    outside.length > 0 || hasOpenBracket(bare) || (readings.length === 0 && isOdd(bare));
  return {
    patterns: [...new Set([line, ...meant])],
    odd: isVain ? "no-name" : readings.length > 0 ? "two-readings" : undefined,
  };
}

/** Without the blanks at its end, of which the first may be meant by a backslash. */
function withoutEnd(line: string): string {
  const bare = line.trimEnd();
  let slashes = 0;
  while (bare.at(-1 - slashes) === "\\") slashes++;
  return slashes % 2 === 1 ? line.slice(0, bare.length + 1) : bare;
}

/**
 * What a line says to who knows other ignore files, a list in Markdown, or a shell, beside what it
 * says to git: each part of it that may be a name.
 */
function readingsOf(line: string): string[] {
  const shown = line.replace(/\p{Cf}/gu, "").trimStart();
  const [, beforeComment = shown, remark = ""] = /^(.*?\S)\s+#(.*)$/.exec(shown) ?? [];
  const [, inQuotes] = /^["'`]([^"'`]+)["'`]?[,;]?$/.exec(beforeComment) ?? [];
  const whole = inQuotes ?? beforeComment;
  const parts = [BETWEEN_LONG_NAMES, BETWEEN_NAMES].flatMap((signs) => whole.split(signs));
  const names = isOdd(whole)
    ? parts
        .map((each) => each.trim())
        .flatMap(expanded)
        .filter(isName)
    : [];
  // A path in a remark may be meant as well: what stays here in vain can be seen.
  const remarked = remark.split(BETWEEN_NAMES).filter((each) => /\/\w|\.[a-z]{2,4}$/i.test(each));
  const files = [whole, ...names].flatMap((each) => /^(.*\.mdc?)\/\**$/i.exec(each)?.[1] ?? []);
  // What is no name by itself says nothing more than its parts.
  const readings = [...(isOdd(whole) ? [] : [whole]), ...names, ...files, ...remarked];
  return [...new Set(readings)].filter((each) => each !== line);
}

/** Signs between names that have blanks in them. */
const BETWEEN_LONG_NAMES = /[;|"'`]|,(?![^{]*\})/;

/** Signs between names, or around one; of braces and what they hold see `expanded`. */
const BETWEEN_NAMES = /(?:[\s;|"'`()<>:=]|,(?![^{]*\}))+/;

/** Whether a line has signs that a name seldom has, or goes on behind one. */
function isOdd(line: string): boolean {
  return /["'`{}|<>;,$%]|^[-+*]\s|\.mdc?[:(]|\.mdc?\/?\s+\S/i.test(line);
}

/** A word of a remark may be a folder's name, too: what stays here in vain can be seen. */
function isName(part: string): boolean {
  return /[\p{L}\p{N}]/u.test(part) && !/^[!#]/.test(part);
}

/** Each of `{a,b}` by itself, as a shell reads it. */
function expanded(part: string): string[] {
  const [, before = "", inBraces, after = ""] = /^([^{]*)\{([^{}]*)\}(.*)$/.exec(part) ?? [];
  if (inBraces === undefined) return [part];
  return inBraces.split(",").map((each) => `${before}${each}${after}`);
}

/** Another folder's, so that nothing in this one is named. */
function isOutside(path: string, dir: string | undefined): boolean {
  const there = slashed(path);
  if (dir !== undefined && `${there}/`.startsWith(`${slashed(dir)}/`)) return false;
  const isFromHome = /^~\/|^[a-z]:[\\/]|^\$\{?\w+\}?[\\/]|^%\w+%[\\/]/i.test(path);
  // Absolute, as the folder's own path is: a link to the folder, or a folder elsewhere.
  const [top = "/home/"] = /^\/[^/]+\//.exec(slashed(dir ?? "")) ?? [];
  const isAbsolute = there.startsWith(top) || /^\/(?:home|root|Users|Volumes)\//.test(there);
  return isFromHome || isAbsolute || there.split("/").includes("..");
}

/** The file or folder of that name, wherever it is: it was meant to stay. */
function lastNames(path: string): string[] {
  const [name] = /[^/]+\/?$/.exec(slashed(path)) ?? [];
  return name === undefined || /^(?:\.\.?|~|\*+)\/?$/.test(name) ? [] : [name];
}

/** The path from the ignore file's folder, as git writes it. */
function pathFrom(given: string, dir: string | undefined): string {
  const path = slashed(given);
  const root = dir === undefined ? undefined : `${slashed(dir)}/`;
  if (root !== undefined && `${path}/`.startsWith(root))
    return `/${path.slice(root.length) || "*"}`;
  const names = path.split("/");
  const isFolder = /\/\.?$/.test(path);
  const left = names.filter((name) => name !== "" && name !== ".");
  const isFromRoot = /^\.?\//.test(path);
  // The folder itself is all that is in it.
  if (left.length === 0) return dir === undefined ? path : "/*";
  return `${isFromRoot ? "/" : ""}${left.join("/")}${isFolder ? "/" : ""}`;
}

/**
 * With a backslash that stands between names, and not before a sign that it takes the sense of. On
 * a Mac `/tmp` is a link to `/private/tmp`, and a folder's own path has the latter.
 */
function slashed(path: string): string {
  const here = path.replace(/^\/private(?=\/(?:etc|tmp|var)(?:\/|$))/, "");
  return here.replace(/\\(.?)/gs, (both, next: string) => {
    return /^[\p{L}\p{N}_.-]?$/u.test(next) ? `/${next}` : both;
  });
}

/** A list of characters that does not end: git finds nothing by it. */
function hasOpenBracket(line: string): boolean {
  const rest = line.replace(/\\./gs, "").replace(/\[:\w+:\]/g, "x");
  let from = rest.indexOf("[");
  while (from !== -1) {
    // In a list the first sign may be the one that else ends it.
    const first = /[!^]/.test(rest[from + 1] ?? "") ? from + 3 : from + 2;
    const end = rest.indexOf("]", first);
    if (end === -1) return true;
    from = rest.indexOf("[", end);
  }
  return false;
}
