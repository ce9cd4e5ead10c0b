import { expect, test } from "bun:test";
import { commandsIn } from "./commands.ts";
import { isShown, type Names } from "./shown-output.ts";

const isShownAlone = (shown: string, printed: string) => isShown(shown, printed, new Map());

test("the commands of a document are found, each with what is shown below it", () => {
  const document = [
    "# A",
    "```sh",
    "npm ci",
    "memsync get \\",
    "  build",
    "```",
    "```console",
    "$ curl -d @- <<'J'",
    "$ 5",
    "J",
    "{}",
    "$ memsync get build",
    "```",
    "```json",
    "{}",
    "```",
  ].join("\n");
  expect(commandsIn(`${document}\n`)).toEqual([
    { text: "npm ci", output: undefined, line: 3 },
    { text: "memsync get \\\n  build", output: undefined, line: 4 },
    { text: "curl -d @- <<'J'\n$ 5\nJ", output: "{}", line: 8 },
    { text: "memsync get build", output: undefined, line: 12 },
  ]);
});

test("what is printed may differ from what is shown in times, ids, numbers and white space", () => {
  const printed = "ab3defgh  2026-11-22 20:50Z  widget, 17 bytes\n  on 127.0.0.1:4711\n";
  expect(isShownAlone("zz7zzzzz 2026-01-02 03:04Z widget, 412 bytes on 127.0.0.1:1", printed)).toBe(
    true,
  );
  expect(isShownAlone("zz7zzzzz … bytes …", printed)).toBe(true);
  for (const other of ["zz7zzzzz … byte", "zz7zzzzz 2026-01-02 03:04Z gadget…", "…:4711 more"]) {
    expect([other, isShownAlone(other, printed)]).toEqual([other, false]);
  }
});

test("one name in a document is one name in what is printed", () => {
  expect(isShownAlone("a2a2a2a2 b2b2b2b2 a2a2a2a2", "c3c3c3c3 d3d3d3d3 c3c3c3c3")).toBe(true);
  expect(isShownAlone("a2a2a2a2 b2b2b2b2 a2a2a2a2", "c3c3c3c3 d3d3d3d3 e3e3e3e3")).toBe(false);
  expect(isShownAlone("a2a2a2a2 1 a2a2a2a2 2", "c3c3c3c3 1 c3c3c3c3 2")).toBe(true);
  const names: Names = new Map();
  expect(isShown("made a2a2a2a2", "made c3c3c3c3", names)).toBe(true);
  expect(isShown("a2a2a2a2 is gone", "d3d3d3d3 is gone", names)).toBe(false);
  expect(isShown("a2a2a2a2 is gone", "c3c3c3c3 is gone", names)).toBe(true);
});
