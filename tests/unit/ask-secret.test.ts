import { afterEach, expect, spyOn, test } from "bun:test";
import { askSecret } from "../../cli/screen/ask.ts";

const { setRawMode } = process.stdin;
afterEach(() => Object.assign(process.stdin, { setRawMode }));

test("what is typed as soon as a secret is asked for is not shown", async () => {
  const steps: string[] = [];
  const note = (isRaw: boolean) => void steps.push(isRaw ? "hides" : "shows");
  Object.assign(process.stdin, { setRawMode: note });
  using _asked = spyOn(process.stderr, "write").mockImplementation((text) => {
    steps.push(String(text));
    return true;
  });
  const answered = askSecret("The token: ");
  process.stdin.emit("data", Buffer.from("secret\r"));
  expect(await answered).toBe("secret");
  expect(steps).toEqual(["hides", "The token: ", "shows", "\n"]);
});
