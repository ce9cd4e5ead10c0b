import { createRequire } from "node:module";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";

type Work = () => Promise<void>;

/** What a test runner has for work around tests: those of Bun, Vitest and Jest have these names. */
export interface TestHooks {
  readonly beforeAll: (work: Work) => unknown;
  readonly afterAll: (work: Work) => unknown;
  readonly beforeEach: (work: Work) => unknown;
}

/** What Node's own runner has. */
interface NodeTest {
  readonly before: (work: Work) => unknown;
  readonly after: (work: Work) => unknown;
  readonly beforeEach: (work: Work) => unknown;
}

// Bun puts them in the reach of each module, but not on `globalThis`.
declare const beforeAll: TestHooks["beforeAll"] | undefined;
declare const afterAll: TestHooks["afterAll"] | undefined;
declare const beforeEach: TestHooks["beforeEach"] | undefined;

/** The hooks of the runner that runs this file. Throws what to do if they can't be found. */
export function findTestHooks(): TestHooks {
  if (
    typeof beforeAll === "function" &&
    typeof afterAll === "function" &&
    typeof beforeEach === "function"
  ) {
    return { beforeAll, afterAll, beforeEach };
  }
  // In both their hooks would have been found, and Node's do nothing there.
  if (process.env.VITEST !== undefined || process.versions.bun !== undefined) {
    throw new AppError(
      "invalid_request",
      "useMemsync finds no beforeAll here. Call it in a test file, and with Vitest set " +
        "`globals: true`, or hand the hooks over: " +
        'import * as hooks from "vitest"; useMemsync({ hooks })',
    );
  }
  // Asked for late: where another runner is, it is not loaded.
  const node: NodeTest = createRequire(join(process.cwd(), "any"))("node:test");
  return { beforeAll: node.before, afterAll: node.after, beforeEach: node.beforeEach };
}
