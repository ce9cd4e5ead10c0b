import { expect, test } from "bun:test";
import { noticesOf } from "../../scripts/bundle.ts";

test("what is passed on has the notices of data that is not a package's, too", async () => {
  const notices = await noticesOf(["node_modules/commander"]);
  expect(notices).toMatch(/^commander \d+\.\d+\.\d+: MIT\n/);
  expect(notices).toContain("https://github.com/gitleaks/gitleaks v8.28.0");
  expect(notices).toContain("Copyright (c) 2019 Zachary Rice");
});
