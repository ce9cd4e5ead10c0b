import type { Command } from "commander";
import { settleLine, type ToldCode } from "../../daemon/files/arrivals/told-lines.ts";
import { listToldOfFiles, type ToldOfFile } from "../../daemon/reading/told-files.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import { count, say, sayJson, sayRows, saySentence, table } from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { visible } from "../screen/visible.ts";
import { changeHome } from "../writes/inbox-write.ts";

interface LinesFlags {
  readonly json?: boolean;
}

const HELP = `
A program that saves an assistant's file may not have read it since somebody else changed it. Then
nobody knows whether it meant to take a line out, or to bring one back: the line stays, and
\`status\` tells it for a day. One command says what was meant, on every machine. It waits while the
file is not to be written (held, left alone, turned off), or has no room for the line.

Examples:
  memsync lines                  the lines in question, and why
  memsync lines drop 8ac824e7    the line is to be in none of these files
  memsync lines keep 8ac824e7    the line is to be in them`;

/** `lines`: single lines of assistants' files about which memsync can't know what was meant. */
export function addLinesCommand(program: Command, env: Environment): void {
  const lines = program.command("lines").enablePositionalOptions();
  const withJson = (each: Command) =>
    each.option("--json", "print it as JSON").addHelpText("after", HELP);
  withJson(lines)
    .description("lines of assistants' files in question: drop, keep")
    .action((flags: LinesFlags) => list(env, flags));
  const withIds = (as: "drop" | "keep", description: string) =>
    withJson(lines.command(`${as} <id...>`))
      .description(description)
      .action((ids: readonly string[], _: unknown, each: Command) =>
        settle(env, { ids, as }, each.optsWithGlobals()),
      );
  withIds("drop", "have the line in none of these files");
  withIds("keep", "have the line in all of these files");
}

async function readTold(env: Environment): Promise<ToldOfFile[]> {
  return await withLocal(env, async (db) => (db ? await listToldOfFiles(db, realWorld.now()) : []));
}

async function list(env: Environment, { json }: LinesFlags): Promise<void> {
  const told = await readTold(env);
  if (json) {
    sayJson(told);
    return;
  }
  if (told.length === 0) {
    saySentence("no line is in question");
    return;
  }
  const rows = told.map(({ id, code, path, line }) => {
    return [id, WHY[code], tilde(path), visible(line.trim())];
  });
  sayRows(table([["ID", "WHAT", "FILE", "LINE"], ...rows]));
  say("");
  saySentence("`memsync lines drop ID` has the line nowhere, `keep` has it everywhere");
}

const WHY: Readonly<Record<ToldCode, string>> = {
  "line-kept": "stays, though left out",
  "line-elsewhere": "stays elsewhere, though left out",
  "line-returned": "is there again",
  "line-undone": "is there again",
  "line-gone": "is gone",
  "line-dropped": "was to stay, and is gone",
  "line-waits": "is decided, and waits",
};

interface Decision {
  readonly ids: readonly string[];
  readonly as: "drop" | "keep";
}

async function settle(env: Environment, { ids, as }: Decision, { json }: LinesFlags) {
  const told = await readTold(env);
  const unknown = ids.find((id) => !told.some((each) => each.id === id));
  if (unknown !== undefined) {
    throw new CommandFailed(`no line in question is ${unknown}: \`memsync lines\` lists them`, {
      code: "not-found",
    });
  }
  const meant = told.filter(({ id }) => ids.includes(id));
  const { hasDaemon } = await changeHome(env.home, async (db) => {
    for (const { path, line } of meant) {
      await settleLine(db, path, { line, as, at: realWorld.now() });
    }
  });
  if (json) {
    sayJson({ [as]: meant });
    return;
  }
  const what = count(meant.length, "line", "lines");
  const who = hasDaemon ? "the daemon" : "the next daemon";
  saySentence(`${who} ${as}s ${what}, on every machine; \`memsync lines\` lists what waits`);
}
