import { expect, test } from "bun:test";
import type { Command } from "commander";
import { writeHelp } from "../../cli/help/help-layout.ts";
import { createProgram } from "../../cli/main.ts";
import { readEnvironment } from "../../cli/place/environment.ts";
import { commandsOf } from "../../scripts/man-page.ts";

const program = await createProgram(readEnvironment({ MEMSYNC_HOME: "/" }));
const commands = commandsOf(program, program.createHelp());

function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

function helpOf(command: Command): string {
  let whole = "";
  command.configureOutput({ writeOut: (text) => (whole += text) }).outputHelp();
  return whole;
}

test("every command's help has a sentence, and examples of the command itself", () => {
  expect(commands.length).toBeGreaterThan(50);
  for (const command of commands) {
    const path = pathOf(command);
    expect([path, command.description()]).toEqual([path, expect.stringMatching(/\w+ \w+/)]);
    const [, examples = ""] = helpOf(command).split("\nExamples:\n");
    const [words = ""] = path.split(" ");
    const where = `the example of ${path} belongs into cli/help/examples.ts`;
    expect([where, examples]).toEqual([where, expect.stringContaining(`memsync ${words}`)]);
    const known = commands.map(pathOf);
    for (const [, name = ""] of examples.matchAll(/\bmemsync ([a-z]+(?:-[a-z]+)*)/g)) {
      expect([path, known]).toEqual([path, expect.arrayContaining([name])]);
    }
  }
});

test("every command stands under a heading of the help", () => {
  const listed = commands.filter(({ parent }) => parent === program);
  const loose = listed.filter((each) => each.helpGroup() === "More:");
  const inNoGroup = loose.map((each) => each.name());
  expect({ "in no group of cli/help/help-layout.ts": inNoGroup }).toEqual({
    "in no group of cli/help/help-layout.ts": ["completion"],
  });
});

test("what a screen shows of the list of all commands, its end, says how to begin", () => {
  const end = helpOf(program).trimEnd().split("\n").slice(-2).join("\n");
  expect(end).toContain("Begin with `memsync up`");
});

test("no line of a help is wider than 80 columns where no terminal says its width", () => {
  for (const command of [program, ...commands]) {
    let written = "";
    const pipe = { isTTY: false, columns: 0, write: (text: string) => (written += text) };
    writeHelp(helpOf(command), pipe);
    const wide = written.split("\n").filter((line) => line.length > 80);
    expect([pathOf(command), wide]).toEqual([pathOf(command), []]);
  }
});
