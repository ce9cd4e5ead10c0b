import { expect, test } from "bun:test";
import { Command } from "commander";
import { COMMAND_GROUPS } from "../../cli/command-groups.ts";
import { createProgram } from "../../cli/main.ts";
import { readEnvironment } from "../../cli/place/environment.ts";

const ENVIRONMENT = readEnvironment({ MEMSYNC_HOME: "/" });

function namesOf(program: Command): string[] {
  return program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
}

for (const { names, load } of COMMAND_GROUPS) {
  test(`what begins with ${names.join(", ")} loads just the commands of these names`, async () => {
    const program = new Command("memsync").enablePositionalOptions();
    (await load())(program, ENVIRONMENT);
    expect({ "named in cli/command-groups.ts": namesOf(program) }).toEqual({
      "named in cli/command-groups.ts": [...names],
    });
  });
}

test("a command line has the commands that it may be about, and no others", async () => {
  expect(namesOf(await createProgram(ENVIRONMENT, "doc"))).toEqual(["doc"]);
  const all = COMMAND_GROUPS.flatMap(({ names }) => [...names]);
  expect(new Set(all).size).toBe(all.length);
  for (const first of [undefined, "--help", "help", "gett"]) {
    expect(namesOf(await createProgram(ENVIRONMENT, first))).toEqual(all);
  }
  expect(namesOf(await createProgram(ENVIRONMENT, "--version"))).toEqual([]);
});
