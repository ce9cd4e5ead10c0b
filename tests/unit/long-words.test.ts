import { expect, test } from "bun:test";
import { shortened } from "../../cli/screen/long-words.ts";

test("what was typed is cut where it is quoted, and the rest of a sentence stays", () => {
  const typed = "it's long ".repeat(2000);
  const said = (quoted: string) =>
    `there is no ${quoted}: \`memsync projects\` lists those there are`;
  const short = said(
    "it's long it's long it's long it's long it's long it's long it's long it's long… (20000 characters)",
  );
  expect(shortened(said(typed), ["rm", typed])).toBe(short);
  const word = said(`'${typed.replaceAll("'", "'\\''")}'`);
  expect(shortened(word, ["rm", typed]).length).toBeLessThan(200);
  const other = shortened(`there is no ${"x".repeat(601)} here`, []);
  expect(other).toBe(`there is no ${"x".repeat(80)}… (601 characters) here`);
});

test("a key that may be is repeated whole", () => {
  const key = "k".repeat(512);
  expect(shortened(`there is no memory "${key}"`, ["get", key])).toContain(key);
});

test("of what another program said without an end the two ends are kept", () => {
  const said = shortened(`it failed: ${"so and so ".repeat(2000)}in the end`, []);
  expect(said.length).toBeLessThan(700);
  expect([said.slice(0, 10), said.slice(-10)]).toEqual(["it failed:", "in the end"]);
});
