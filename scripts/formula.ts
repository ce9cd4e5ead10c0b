// Prints the Homebrew formula of a packed tarball that can be had at an address:
// `bun scripts/formula.ts TARBALL URL`. Homebrew reads the version from the address.
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { VERSION } from "../shared/version.ts";

const FORMULA = join(import.meta.dir, "../deploy/homebrew/memsync.rb");
const USED_WRONGLY = 2;

const [named, url] = process.argv.slice(2);
if (named === undefined || !url?.endsWith(`/memsync-${VERSION}.tgz`)) {
  process.stderr.write(
    "usage: npm run -s formula TARBALL URL, where the URL ends in " +
      `/memsync-${VERSION}.tgz, as Homebrew reads the version from it\n`,
  );
  process.exit(USED_WRONGLY);
}
const tarball = await Bun.file(resolve(process.env.INIT_CWD ?? ".", named)).bytes();
const formula = (await Bun.file(FORMULA).text())
  .replace("__URL__", url)
  .replace("__SHA256__", createHash("sha256").update(tarball).digest("hex"));
process.stdout.write(formula.slice(formula.indexOf("class ")));
