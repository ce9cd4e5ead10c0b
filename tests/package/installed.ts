import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Consumer, createConsumer, type Outcome, ROOT } from "./consumer.ts";

export interface Packed extends Disposable {
  /** Path of the tarball. */
  readonly path: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

/** Builds and packs this checkout. */
export async function pack(): Promise<Packed> {
  const folder = mkdtempSync(join(tmpdir(), "memsync-packed-"));
  await using builder = await createConsumer();
  const npm = ["npm", "--prefix", ROOT, "pack", ROOT, "--json", "--pack-destination", folder];
  const { stdout } = succeeded("npm pack", await builder.run(...npm));
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  return {
    path: join(folder, packed.filename),
    files: packed.files.map(({ path }) => path),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

/** Without a manifest npm would install into a folder above that has one. */
const MANIFEST = { private: true, allowScripts: { "better-sqlite3": true, bun: true } };

/** Someone who installed the tarball, and nothing else. */
export async function installed(packed: Packed, ...flags: readonly string[]): Promise<Consumer> {
  const consumer = await createConsumer();
  await consumer.write({ "package.json": JSON.stringify(MANIFEST) });
  succeeded("npm install", await consumer.run("npm", "install", ...flags, packed.path));
  return consumer;
}

/**
 * Someone who installed the tarball for all of their projects, below a folder with a space in its
 * name, and without install scripts, as Homebrew does. `prefix` is relative to their folder.
 */
export async function installedGlobally(
  packed: Packed,
): Promise<{ readonly consumer: Consumer; readonly prefix: string }> {
  const consumer = await createConsumer();
  const prefix = "pre fix";
  const flags = ["--global", "--ignore-scripts", "--prefix", prefix];
  succeeded("npm install", await consumer.run("npm", "install", ...flags, packed.path));
  return { consumer, prefix };
}

/** An outcome that must be good for anything else to be tried. */
function succeeded(what: string, outcome: Outcome): Outcome {
  if (outcome.status !== 0) throw new Error(`${what} failed: ${outcome.stderr}`);
  return outcome;
}
