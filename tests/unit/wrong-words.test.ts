import { expect, test } from "bun:test";
import { Command } from "commander";
import { wordsOn } from "../../cli/help/unknown-command.ts";

test("an unknown option in place of a needed one is said", () => {
  const program = new Command("memsync");
  program.command("move <key>").requiredOption("--layer <layer>").option("--json");
  const missing = {
    code: "commander.missingMandatoryOptionValue",
    message: "error: required option '--layer <layer>' not specified",
  };
  const said = (...args: string[]) => wordsOn(program, args, missing);
  expect(said("move", "k", "--to", "user")).toEqual([
    "unknown option '--to'",
    "required option '--layer <layer>' not specified",
  ]);
  expect(said("move", "k", "--layr=user")[0]).toBe(
    "unknown option '--layr': did you mean \"--layer\"?",
  );
  for (const args of [["k"], ["k", "--json"], ["--", "--to"]]) {
    expect(said("move", ...args)).toEqual([
      "required option '--layer <layer>' not specified",
      "say it so: `memsync move <key> --layer <layer>`",
    ]);
  }
});
