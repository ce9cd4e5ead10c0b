import { expect, test } from "bun:test";
import { typedHider } from "../../cli/screen/typed-secrets.ts";

test("a message repeats nothing of a secret, whatever it was typed beside and however it is quoted", async () => {
  const cases = [
    { args: ["login", "--password", "Tr0ub4dor"], said: "unknown command 'Tr0ub4dor'" },
    { args: ["set", "k", "curl", "-u", "bob:Tr0ub4dor"], said: "`memsync set k bob:Tr0ub4dor`" },
    { args: ["set", "curl -u bob:O'Reilly2"], said: "unknown option 'curl -u bob:O'Reilly2'" },
    {
      args: ["link", "--pass", "O'Reilly2"],
      said: "`memsync start 'O'\\''Reilly2'` links several",
    },
    { args: ["link", "--pass", "Xq7mwTzbpKd3'lmn2"], said: "no folder Xq7mwTzbpKd3'lmn2" },
  ];
  for (const { args, said } of cases) {
    const shown = (await typedHider(args))(said);
    expect([said, shown]).toEqual([said, expect.stringContaining("[secret]")]);
    expect(shown).not.toMatch(/4dor|Reilly|lmn2/);
  }
  expect((await typedHider(["set", "build", "make"]))("no key build")).toBe("no key build");
});
