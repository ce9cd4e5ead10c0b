// Makes the one binary for this machine's platform, its manual page and the notices that go with
// it: `bun scripts/compile.ts [FOLDER]`, in `out` when left out. Downloads nothing: the runtime in
// it is the Bun that runs this script. Another platform's binary is made on that platform, for Bun
// would have to download its runtime.
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { compile, noticesOf } from "./bundle.ts";
import { manPage } from "./man-page.ts";

const ROOT = join(import.meta.dir, "..");

const folder = resolve(process.argv[2] ?? join(ROOT, "out"));
process.chdir(ROOT);
await mkdir(folder, { recursive: true });
const binary = join(folder, process.platform === "win32" ? "memsync.exe" : "memsync");
const packages = await compile("cli/main.ts", binary);
await Bun.write(join(folder, "memsync.1"), await manPage());
await Bun.write(join(folder, "third-party-notices.txt"), await noticesOf(packages));
process.stdout.write(`${binary}\n`);
