// Preloaded: the process is killed in the middle of its first write into a followed file itself,
// once `KILLED_AFTER_BYTES` are in it.
import { join } from "node:path";
import { plugin } from "bun";
import { replaceOnce } from "../trust/simulate/replacement.ts";

const file = "daemon/disk/write-in-place.ts";

plugin({
  name: "a kill in the middle",
  setup(build) {
    build.onLoad({ filter: /write-in-place\.ts$/ }, async ({ path }) => {
      const to = JSON.stringify(join(import.meta.dir, "dying-write.ts"));
      const text = await Bun.file(path).text();
      return { contents: replaceOnce(text, { file, from: '"node:fs"', to }), loader: "ts" };
    });
  },
});
