import { join } from "node:path";

const IMPORTING = 'export const loadEmulator = () => import("./emulator.mjs");\n';

/**
 * Jest holds modules in a context that can't import any. A script's own loader is that of the
 * process, where Node has it (20.12 and later).
 */
const LOADING = `"use strict";
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { constants, Script } = require("node:vm");
const url = pathToFileURL(join(__dirname, "emulator.mjs")).href;
exports.loadEmulator = async () => {
  try {
    return await import(url);
  } catch (thrown) {
    const importModuleDynamically = constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    if (!importModuleDynamically || !/^ERR_VM_DYNAMIC_IMPORT/.test(thrown?.code)) throw thrown;
    const script = new Script("import(" + JSON.stringify(url) + ")", { importModuleDynamically });
    return await script.runInThisContext();
  }
};
`;

/** Makes `memsync/testing` in `dist`, which loads the emulator beside it when a test needs it. */
export async function bundleTesting(source: string, dist: string): Promise<void> {
  for (const [format, extension, loader] of [
    ["esm", "mjs", IMPORTING],
    ["cjs", "cjs", LOADING],
  ] as const) {
    const loading = `./load-emulator.${extension}`;
    const { success, outputs, logs } = await Bun.build({
      entrypoints: [source],
      target: "node",
      format,
      plugins: [
        {
          name: "load-emulator",
          setup(build) {
            build.onResolve({ filter: /\/load-emulator\.ts$/ }, () => ({
              path: loading,
              external: true,
            }));
          },
        },
      ],
    });
    const [output] = outputs;
    if (!success || output === undefined) throw new AggregateError(logs, "the bundle failed");
    await Bun.write(join(dist, `testing.${extension}`), output);
    await Bun.write(join(dist, loading), loader);
  }
}
