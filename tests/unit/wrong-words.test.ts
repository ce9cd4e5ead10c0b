import { expect, test } from "bun:test";
import { Command } from "commander";
import { wordsOn } from "../../cli/help/unknown-command.ts";
import { typedHider } from "../../cli/screen/typed-secrets.ts";
import { PLANTED } from "../support/planted-secrets.ts";

test("what resembles a hidden secret and is hidden as well is not named", async () => {
  const hide = await typedHider(["get", PLANTED.stripe]);
  const other = PLANTED.stripe.replace(/.$/, "Z");
  const none = `there is no memory "${PLANTED.stripe}"`;
  expect(hide(`${none}: did you mean "${other}"?`)).toBe('there is no memory "[secret]"');
  expect(hide(`${none}: did you mean "${other}" or "stripe"?`)).toBe(
    'there is no memory "[secret]": did you mean "[secret]" or "stripe"?',
  );
});

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
