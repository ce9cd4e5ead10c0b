import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BROWSER } from "../support/browser.ts";

const ROOT = join(import.meta.dir, "../..");

/** A folder to leave pictures in. */
const PICTURES = process.env.MEMSYNC_TEST_PICTURES;

/** What a visitor is told. */
export interface Errand<Given> {
  readonly given: Given;
  /** The browser's program. */
  readonly browser: string;
  /** A folder to leave pictures in, if there is one. */
  readonly pictures?: string | undefined;
}

/**
 * Runs a visitor of this folder, a program for Node, on which the browser's driver runs. It reads
 * its errand from its first argument. Resolves to what it prints, as JSON.
 */
export async function runVisitor<Found>(name: string, given: unknown): Promise<Found> {
  if (BROWSER === "") {
    throw new Error("install a browser (apt-get install chromium) or set MEMSYNC_TEST_BROWSER");
  }
  // Below the checkout, so that the program finds the driver.
  const folder = mkdtempSync(join(ROOT, "node_modules/.memsync-browser-"));
  try {
    const { success, logs, outputs } = await Bun.build({
      entrypoints: [join(import.meta.dir, `${name}.ts`)],
      target: "node",
      external: ["playwright-core"],
    });
    if (!success) throw new AggregateError(logs, "the bundle failed");
    const program = join(folder, `${name}.mjs`);
    for (const output of outputs) await Bun.write(program, output);
    const errand = JSON.stringify({ given, browser: BROWSER, pictures: PICTURES });
    const visitor = Bun.spawn(["node", program, errand], { stdio: ["ignore", "pipe", "inherit"] });
    return JSON.parse(await visitor.stdout.text());
  } finally {
    rmSync(folder, { recursive: true });
  }
}
