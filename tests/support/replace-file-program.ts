// Replaces a file by a text, and prints how that ended: `replace-file-program.ts PATH TEXT HASH`.
// With `KILLED_AFTER_BYTES` it is killed in the middle of a write into the file itself.
import { join } from "node:path";
import { plugin } from "bun";
import { replaceOnce } from "../trust/simulate/replacement.ts";

const file = "daemon/sources/write-in-place.ts";
const [path = "", text = "", hash = ""] = process.argv.slice(2);

if (process.env.KILLED_AFTER_BYTES !== undefined) {
  const to = JSON.stringify(join(import.meta.dir, "dying-write.ts"));
  plugin({
    name: "a kill in the middle",
    setup(build) {
      build.onLoad({ filter: /write-in-place\.ts$/ }, async (source) => {
        const contents = await Bun.file(source.path).text();
        return { contents: replaceOnce(contents, { file, from: '"node:fs"', to }), loader: "ts" };
      });
    },
  });
}

const { replaceFile } = await import("../../daemon/sources/write-file.ts");
const { realWorld } = await import("../../shared/world-real.ts");
const outcome = await replaceFile(path, text, hash, realWorld);
if (outcome.kind === "written") await outcome.replaced?.close();
const notKept = outcome.kind === "written" ? outcome.notKept : [];
process.stdout.write(JSON.stringify({ kind: outcome.kind, notKept }));
