import { expect, test } from "bun:test";
import { findingOf } from "../../cli/doctor/finding.ts";

function failing(code: string) {
  return async () => await Promise.reject(Object.assign(new Error(code), { code }));
}

test("a check that fails names what helps: room, another mount, or else permissions", async () => {
  for (const [code, remedy] of [
    ["ENOSPC", "the disk is full"],
    ["EDQUOT", "the disk is full"],
    ["SQLITE_FULL", "the disk is full"],
    ["EROFS", "the disk is mounted read-only"],
    ["EACCES", "see to it that this account may look there"],
  ] as const) {
    const { state, mend } = await findingOf("home", failing(code));
    expect(state).toBe("wrong");
    expect(mend).toStartWith(remedy);
    expect(mend).toEndWith(", then run `memsync doctor` again");
  }
});
