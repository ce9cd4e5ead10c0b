// Replaces a file by a text, and prints how that ended: `replace-file-program.ts PATH TEXT HASH`.
import { replaceFile } from "../../daemon/disk/write-file.ts";
import { realWorld } from "../../shared/world-real.ts";

const [path = "", text = "", hash = ""] = process.argv.slice(2);

const outcome = await replaceFile(path, text, {
  expectedHash: hash,
  world: realWorld,
  within: "/",
});
if (outcome.kind === "written") await outcome.replaced?.close();
const notKept = outcome.kind === "written" ? outcome.notKept : [];
process.stdout.write(JSON.stringify({ kind: outcome.kind, notKept }));
