import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";

export interface BundleOptions {
  /** Source file to name of the program made of it, in `dist`. */
  readonly programs: Readonly<Record<string, string>>;
  readonly target: "bun" | "node";
  readonly dist: string;
}

/** What each runtime has built in or loads only when it is there. */
const EXTERNAL = ["better-sqlite3", "bun:sqlite"];

/**
 * pino looks beside itself for the programs of its workers, of which memsync starts none. Left
 * alone, the folder that it had on the machine of the build would be written into the bundle.
 */
const DEFINE = { __dirname: JSON.stringify("bundled"), __filename: JSON.stringify("bundled") };

/**
 * Bundles programs together with all that they import, what they share or load late in chunks
 * beside them. Resolves to the folders of the packages that went in. Rejects with the problems.
 */
export async function bundle({ programs, target, dist }: BundleOptions): Promise<Set<string>> {
  const extension = target === "bun" ? "js" : "mjs";
  const { success, outputs, logs, metafile } = await Bun.build({
    entrypoints: Object.keys(programs),
    target,
    format: "esm",
    splitting: true,
    naming: { entry: `[name].${extension}`, chunk: `${target}/[hash].${extension}` },
    external: EXTERNAL,
    define: DEFINE,
    metafile: true,
  });
  if (!success) throw new AggregateError(logs, "the bundle failed");
  const names = new Map(
    Object.entries(programs).map(([source, name]) => [
      basename(source).replace(/ts$/, extension),
      name,
    ]),
  );
  for (const output of outputs) {
    const name = output.kind === "entry-point" ? names.get(basename(output.path)) : output.path;
    if (name === undefined) throw new Error(`nothing was to be made at ${output.path}`);
    await Bun.write(join(dist, name), output);
  }
  return packagesOf(Object.keys(metafile?.inputs ?? {}));
}

/**
 * Makes one executable of a program for Bun, its runtime and all that the program imports, at
 * `path`. Each module's bytecode is made now, not at its start. It reads no configuration of the
 * folder that it is started in. Resolves to the folders of the packages that went in.
 */
export async function compile(source: string, path: string): Promise<Set<string>> {
  const { success, logs, metafile } = await Bun.build({
    entrypoints: [source],
    target: "bun",
    format: "esm",
    // Modules that are imported late are then read late.
    splitting: true,
    bytecode: true,
    // Names stay, for traces.
    minify: { syntax: true, whitespace: true, identifiers: false },
    external: EXTERNAL,
    define: DEFINE,
    metafile: true,
    compile: {
      outfile: path,
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadPackageJson: false,
      autoloadTsconfig: false,
    },
  });
  if (!success) throw new AggregateError(logs, "the executable could not be made");
  return packagesOf(Object.keys(metafile?.inputs ?? {}));
}

/** Bundles a small program for Node, as CommonJS, which Node starts some milliseconds sooner. */
export async function bundleLauncher(source: string, path: string): Promise<void> {
  const { success, outputs, logs } = await Bun.build({
    entrypoints: [source],
    target: "node",
    format: "cjs",
    // Looked for when it runs.
    external: ["bun"],
  });
  const [output] = outputs;
  if (!success || output === undefined) throw new AggregateError(logs, "the bundle failed");
  await Bun.write(path, output);
}

/**
 * Bundles a library for every platform, for `import` and for `require`: `<name>.mjs` and
 * `<name>.cjs`. Rejects if it needs a package, or what only one platform has.
 */
export async function bundleLibrary(library: {
  readonly source: string;
  readonly name: string;
  readonly dist: string;
}): Promise<void> {
  for (const [format, extension] of [["esm", "mjs"] as const, ["cjs", "cjs"] as const]) {
    const { success, outputs, logs, metafile } = await Bun.build({
      entrypoints: [library.source],
      target: "browser",
      format,
      metafile: true,
    });
    const foreign = Object.values(metafile?.inputs ?? {}).flatMap(({ imports }) =>
      imports.filter(({ path, external }) => external || path.includes("node_modules")),
    );
    const [output] = outputs;
    if (!success || output === undefined) throw new AggregateError(logs, "the bundle failed");
    if (foreign.length > 0) throw new Error(`${library.name} needs ${foreign[0]?.path}`);
    await Bun.write(join(library.dist, `${library.name}.${extension}`), output);
  }
}

function packagesOf(inputs: readonly string[]): Set<string> {
  const folders = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return new Set(folders.filter((folder) => folder !== undefined));
}

/** Data of others that is among our own sources, with its licence in it. */
const VENDORED = ["daemon/held/gitleaks-rules.json"];

/**
 * The notices that the licences of bundled packages ask to be passed on, in order of name, and then
 * those of vendored data.
 */
export async function noticesOf(packages: Iterable<string>): Promise<string> {
  const notices: string[] = [];
  for (const folder of [...packages].sort()) {
    const { name, version, license } = await Bun.file(join(folder, "package.json")).json();
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? "" : `\n${await readFile(join(folder, file), "utf8")}`;
    notices.push(`${name} ${version}: ${license}\n${text}`);
  }
  for (const path of VENDORED) {
    const { source, licence } = await Bun.file(path).json();
    notices.push(`${source}\n\n${licence}\n`);
  }
  return notices.join(`\n${"-".repeat(80)}\n\n`);
}
