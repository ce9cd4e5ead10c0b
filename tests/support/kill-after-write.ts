// Preloaded: the process is killed when it has written its first file of a folder of memories, and
// has not noted that yet.
import { join } from "node:path";
import { plugin } from "bun";
import { replaceOnce } from "../trust/simulate/replacement.ts";

const file = "daemon/assistants/memory-folders/write-memory-file.ts";

plugin({
  name: "a kill after a write",
  setup(build) {
    build.onLoad({ filter: /write-memory-file\.ts$/ }, async ({ path }) => {
      const to = JSON.stringify(join(import.meta.dir, "dying-replace.ts"));
      const text = await Bun.file(path).text();
      const from = '"../../disk/write-file.ts"';
      return { contents: replaceOnce(text, { file, from, to }), loader: "ts" };
    });
  },
});
