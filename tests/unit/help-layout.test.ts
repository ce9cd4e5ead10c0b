import { expect, test } from "bun:test";
import { folded } from "../../cli/help/help-layout.ts";
import { createProgram } from "../../cli/main.ts";
import { readEnvironment } from "../../cli/place/environment.ts";
import { commandsOf } from "../../scripts/man-page.ts";

test("paragraphs fill the terminal's lines, and examples fit them", () => {
  const text = [
    "",
    "One sentence that is long.",
    "And another one.",
    "",
    "Examples:",
    "  memsync get build       with   blanks that stay as they are, however long",
    "  memsync rm k     all",
    "                   of it",
    "  memsync set build make",
    "",
  ].join("\n");
  expect(folded(text, 20).split("\n")).toEqual([
    "",
    "One sentence that is",
    "long. And another",
    "one.",
    "",
    "Examples:",
    "  memsync get build",
    "      with   blanks",
    "      that stay as",
    "      they are,",
    "      however long",
    "  memsync rm k",
    "      all of it",
    "  memsync set \\",
    "    build make",
    "",
  ]);
  expect(folded("\nExamples:\n  memsync get build    one of many words\n", 44)).toBe(
    "\nExamples:\n  memsync get build    one of many words\n",
  );
  expect(folded("\nExamples:\n  memsync rm k  whatever there is of many words\n", 40)).toBe(
    "\nExamples:\n  memsync rm k  whatever there is of\n                many words\n",
  );
});

test("no help is wider than a terminal of 80 columns", async () => {
  const program = await createProgram(readEnvironment({ MEMSYNC_HOME: "/" }));
  for (const command of commandsOf(program, program.createHelp())) {
    let help = "";
    const writeOut = (text: string) => (help += folded(text, 80));
    command.configureOutput({ writeOut, getOutHelpWidth: () => 80 }).outputHelp();
    const wide = help.split("\n").filter((line) => line.length > 80);
    expect([command.name(), wide]).toEqual([command.name(), []]);
  }
});

test.each([
  [60, /^ {3,}|^ {2}-/],
  // Below a term, which may be longer itself.
  [30, /^ {3,}/],
])("a help fits a terminal of %d columns", async (width, isFitted) => {
  const program = await createProgram(readEnvironment({ MEMSYNC_HOME: "/" }));
  for (const command of [program, ...program.commands]) {
    if (command.name() === "server") continue; // Names of its variables are longer than the room.
    const format = command.createHelp();
    format.helpWidth = width;
    const lines = format.formatHelp(command, format).split("\n");
    const wide = lines.filter((line) => line.length > width && isFitted.test(line));
    expect([command.name(), wide]).toEqual([command.name(), []]);
  }
});

test("the help has every command once, under its heading", async () => {
  const program = await createProgram(readEnvironment({ MEMSYNC_HOME: "/" }));
  const help = program.helpInformation();
  for (const { name } of program.commands.map((command) => ({ name: command.name() }))) {
    const shown = help.split("\n").filter((line) => new RegExp(`^  ${name}( |$)`).test(line));
    const isHidden = ["daemon", "complete"].includes(name);
    expect([name, shown.length]).toEqual([name, isHidden ? 0 : 1]);
  }
  expect(help.indexOf("Memories:")).toBeLessThan(help.indexOf("The daemon:"));
  expect(help.indexOf("The daemon:")).toBeLessThan(help.indexOf("More:"));
});
