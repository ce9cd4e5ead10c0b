import { expect, spyOn, test } from "bun:test";
import { readEnvironment } from "../../cli/place/environment.ts";

const AT = { MEMSYNC_HOME: "/users/.memsync", INIT_CWD: "/users/ann/shop" };

test("memsync's own script works where its user stands", () => {
  const env = { ...AT, npm_package_name: "memsync", npm_lifecycle_event: "memsync" };
  expect(readEnvironment(env).dir).toBe("/users/ann/shop");
});

test.each([
  ["another project's script", { npm_package_name: "shop", npm_lifecycle_event: "memsync" }],
  ["another script of memsync's", { npm_package_name: "memsync", npm_lifecycle_event: "bench" }],
  ["no script", {}],
])("below %s the folder is the one that it runs in", (_, npm) => {
  expect(readEnvironment({ ...AT, ...npm }).dir).toBe(process.cwd());
});

test("a folder that was deleted is known by the name that the shell has for it", () => {
  const cwd = spyOn(process, "cwd").mockImplementation(() => {
    throw new Error("ENOENT: no such file or directory, uv_cwd");
  });
  try {
    expect(readEnvironment({ ...AT, PWD: "/users/ann/gone" }).dir).toBe("/users/ann/gone");
  } finally {
    cwd.mockRestore();
  }
});
