import { join } from "node:path";
import { BROWSER } from "../tests/support/browser.ts";

const ROOT = join(import.meta.dir, "..");

/**
 * The tests in a browser, with nothing beside them; resolves to their status. Without a browser it
 * says that they are skipped, which is a failure for CI.
 */
export async function testInBrowser(): Promise<number> {
  if (BROWSER === "") {
    process.stdout.write(
      "\nskipped: the tests in a browser, for none was found. Install one (apt-get install\n" +
        "chromium) or set MEMSYNC_TEST_BROWSER; then `npm run test:browser` runs them\n",
    );
    return process.env.CI ? 1 : 0;
  }
  process.stdout.write("\nthe tests in a browser\n");
  const tests = Bun.spawn([process.execPath, "run", "--silent", "test:browser"], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return await tests.exited;
}
