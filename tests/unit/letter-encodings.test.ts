import { expect, test } from "bun:test";
import { lettersOf } from "../../daemon/home/text-line.ts";

const LINES = [
  "Über Öfen schreibt niemand",
  "fünf Äpfel für Bärbel",
  "idée créée à côté",
  "schäden décembre façade",
  "My doctor is Dr. Bäcker",
];

const each = (line: string, written: (code: number) => string) =>
  line.replace(/[^ -~]/g, (letter) => written(letter.charCodeAt(0)));
const hex = (code: number, digits = 0) => code.toString(16).padStart(digits, "0");

test.each<[name: string, encode: (line: string) => string]>([
  ["JSON", (line) => each(line, (code) => `\\u${hex(code, 4)}`)],
  ["JavaScript", (line) => each(line, (code) => `\\u{${hex(code)}}`)],
  ["a URL", encodeURIComponent],
  ["HTML by numbers", (line) => each(line, (code) => `&#${code};`)],
  ["HTML by hexadecimal numbers", (line) => each(line, (code) => `&#x${hex(code)};`)],
])("a line in %s has the letters that it has as a text", (_, encode) => {
  for (const line of LINES) expect(lettersOf(encode(line))).toBe(lettersOf(line));
});

test("a letter that is none with a mark has the name that HTML gives it", () => {
  const named =
    "R&oslash;nne, &AElig;r&oslash;, c&oelig;ur, Stra&szlig;e, &Thorn;&oacute;r&eth;ur, " +
    "&Lstrok;&oacute;d&zacute;";
  expect(lettersOf(named)).toBe(lettersOf("Rønne, Ærø, cœur, Straße, Þórður, Łódź"));
});
