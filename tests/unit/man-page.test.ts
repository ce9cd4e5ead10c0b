import { expect, test } from "bun:test";
import { createProgram } from "../../cli/main.ts";
import { readEnvironment } from "../../cli/place/environment.ts";
import { commandsOf, manPage } from "../../scripts/man-page.ts";
import { VERSION } from "../../shared/version.ts";
import { programs, testWith } from "../support/needs.ts";

const GROFF = programs("groff");
const page = await manPage();
const program = await createProgram(readEnvironment({ MEMSYNC_HOME: "/" }));

async function groff(...args: readonly string[]) {
  const child = Bun.spawn(["groff", "-man", "-Kutf8", "-ww", ...args], {
    stdin: new Blob([page]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, stdout, stderr };
}

/** The page without its markup. */
const plain = page
  .replaceAll("\\-", "-")
  .replaceAll("\\e", "\\")
  .replaceAll(/\\f[BRI]|\\&/g, "");

test("the manual page has every command, with its arguments and all of its options", () => {
  const commands = commandsOf(program, program.createHelp());
  expect(commands.length).toBeGreaterThan(30);
  for (const command of commands) {
    const path = pathOf(command);
    const start = plain.search(new RegExp(`^\\.SS ${path}( [<[]|$)`, "m"));
    expect([path, start]).not.toEqual([path, -1]);
    const [part = ""] = plain.slice(start + 1).split(/^\.S[SH] /m, 1);
    for (const argument of command.registeredArguments) expect(part).toContain(argument.name());
    for (const { flags, hidden } of command.options) {
      if (!hidden) expect(part).toContain(`\n${flags}\n`);
    }
    if (command.description() !== "") expect(part).toContain(command.description().slice(1));
  }
});

test("the manual page is of this version, and of no machine", async () => {
  expect(page).toStartWith(`.TH MEMSYNC 1 "" "memsync ${VERSION}"`);
  expect(page).not.toContain(process.cwd());
  expect(await manPage()).toBe(page);
});

testWith(GROFF, "groff finds nothing wrong with the manual page", async () => {
  expect(await groff("-z")).toEqual({ status: 0, stdout: "", stderr: "" });
});

testWith(GROFF, "a command's examples are printed as they stand", async () => {
  const { stdout } = await groff("-Tutf8", "-P-c");
  expect(stdout).toContain(
    "  memsync conflicts show k3j5h2ab       both versions, whole, with their numbers\n",
  );
});

function pathOf(command: (typeof program)["commands"][number]): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
