import { afterEach, expect, spyOn, test } from "bun:test";
import { printText } from "../../cli/screen/output.ts";

const { isTTY } = process.stdout;
afterEach(() => Object.assign(process.stdout, { isTTY }));

/** What is written of a text. */
function printed(text: string, on: { readonly isTTY: boolean }): string {
  Object.assign(process.stdout, on);
  let written = "";
  using _written = spyOn(process.stdout, "write").mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  printText(text);
  return written;
}

const CLIPBOARD = "\u001b]52;c;cm0gLXJmIH4=\u0007";

test("a terminal obeys nothing of a value that others have written", () => {
  const shown = "one\n\\x1b]52;c;cm0gLXJmIH4=\\x07 two\n";
  expect(printed(`one\n${CLIPBOARD} two`, { isTTY: true })).toBe(shown);
});

test("a program gets a value as it is", () => {
  for (const text of [`one\n${CLIPBOARD} two`, "one\r\ntwo\r\n", ""]) {
    expect(printed(text, { isTTY: false })).toBe(text);
  }
});

test("a terminal gets whole lines, and nothing of nothing", () => {
  expect(printed("one\r\ntwo", { isTTY: true })).toBe("one\ntwo\n");
  expect(printed("one\n", { isTTY: true })).toBe("one\n");
  expect(printed("", { isTTY: true })).toBe("");
});
