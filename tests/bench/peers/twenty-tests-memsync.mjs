import * as hooks from "vitest";
import { timeOutsideTests } from "./outside-tests.mjs";

await timeOutsideTests(async () => {
  // As it is built: `memsync/testing` of whoever has installed the package.
  const { useMemsync } = await import(process.env.BENCH_TESTING);
  const memsync = useMemsync({ reset: "each", hooks });
  return () => memsync.url;
});
