import { expect, test } from "bun:test";
import { Command, type CommanderError } from "commander";
import { assertHelpIsThere, wordsOn } from "../../cli/help/unknown-command.ts";

test("who links several folders at once is told what does it", () => {
  const said = (...folders: string[]) => {
    const program = new Command("memsync").exitOverride();
    program
      .command("link [dir]")
      .exitOverride()
      .configureOutput({ outputError: () => {} });
    let thrown: unknown;
    try {
      program.parse(["link", ...folders], { from: "user" });
    } catch (refused) {
      thrown = refused;
    }
    return wordsOn(program, ["link", ...folders], thrown as CommanderError);
  };
  const parser = "too many arguments for 'link'. Expected 1 argument but got 2.";
  expect(said("a", "b c")).toEqual([parser, "`memsync start a 'b c'` links several"]);
  expect(said("a", "b".repeat(80))[1]).toBe("`memsync start DIR...` links several");
});

test("a word that is none of those it may be is said in few words", () => {
  const program = new Command("memsync");
  program.command("completion <shell>");
  const message =
    "error: command-argument value 'tcsh' is invalid for argument 'shell'. " +
    "Allowed choices are zsh, bash.";
  const refused = { code: "commander.invalidArgument", message };
  expect(wordsOn(program, ["completion", "tcsh"], refused)).toEqual([
    "'tcsh' is no shell: say zsh, bash",
  ]);
});

test("a command about one of them is told to whoever gives it to those that are listed", () => {
  const said = (...args: string[]) => {
    const program = new Command("memsync").exitOverride();
    const quiet = { outputError: () => {} };
    const listing = program.command("projects").exitOverride().configureOutput(quiet);
    listing.allowExcessArguments(false);
    program.command("project").command("rm <project>");
    let thrown: unknown;
    try {
      program.parse(args, { from: "user" });
    } catch (refused) {
      thrown = refused;
    }
    return wordsOn(program, args, thrown as CommanderError)[1];
  };
  expect(said("projects", "rm", "shop")).toBe("did you mean `memsync project rm`?");
  expect(said("projects", "shop")).toBe("say it so: `memsync projects`");
});

test("an option that takes no value is said to take none, and help knows its own options", () => {
  const program = new Command("memsync");
  program.command("list").option("--json");
  const said = (word: string) => {
    const message = `error: unknown option '${word}'`;
    return wordsOn(program, ["list", word], { code: "commander.unknownOption", message });
  };
  expect(said("--json=yes")).toEqual(["--json takes no value"]);
  expect(said("--text=yes")[0]).toBe("unknown option '--text=yes'");
  expect(() => assertHelpIsThere(program, ["help", "--nope"])).toThrow(
    "unknown option '--nope': `memsync --help` lists the commands",
  );
  expect(() => assertHelpIsThere(program, ["help", "--help"])).not.toThrow();
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
    "say it so: `memsync move <key> --layer <layer>`",
  ]);
  expect(said("move", "k", "--layr=user")).toEqual([
    "unknown option '--layr': did you mean \"--layer\"?",
    "required option '--layer <layer>' not specified",
  ]);
  for (const args of [["k"], ["k", "--json"], ["--", "--to"]]) {
    expect(said("move", ...args)).toEqual([
      "required option '--layer <layer>' not specified",
      "say it so: `memsync move <key> --layer <layer>`",
    ]);
  }
});

test("a word that another program has for a command leads to it", () => {
  const program = new Command("memsync");
  for (const name of ["set", "stop", "status", "sync"]) program.command(name);
  const said = (word: string) => {
    const message = `error: unknown command '${word}'`;
    return wordsOn(program, [word], { code: "commander.unknownCommand", message })[0];
  };
  expect(said("version")).toBe("unknown command 'version': `memsync --version` prints it");
  expect(said("tokens")).toContain("`memsync server token list` lists a server's");
  expect(said("Web")).toContain("memsync has no page: `memsync up` is its live screen");
  expect(said("push")).toBe("unknown command 'push': did you mean \"sync\"?");
  // What every object has is a word like any other.
  for (const word of ["constructor", "valueOf", "__proto__"]) {
    expect(said(word)).toBe(`unknown command '${word}': \`memsync help\` lists those there are`);
  }
});
