import { expect, test } from "bun:test";
import { join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import { programs } from "../support/needs.ts";
import { ROOT } from "../tidy/source-tree.ts";
import { commandsIn, readDocuments, type ShownCommand } from "./commands.ts";
import { type Act, Reader } from "./reader.ts";
import { SCENES, type Scene } from "./scenes.ts";

const DEADLINE_MS = 240_000;

/** What a reader types into, and with. */
const READERS = programs("bash", "curl", "npm");

/** `MEMSYNC_RENEW_DOCUMENTS=1` has the documents show what is printed now. */
const RENEWS = process.env.MEMSYNC_RENEW_DOCUMENTS === "1";

interface Problem extends ShownCommand {
  /** What it printed, where that is not what the document shows. */
  readonly printed?: string;
  readonly failed?: string;
}

const documents = await readDocuments();
const commandsOf = (path: string) => commandsIn(documents.get(path) ?? "");

const actOf = ({ acts }: Scene, { text }: ShownCommand): Act | undefined =>
  acts.find(({ command }) => text.startsWith(command));

/** Those that a scene names first, in its order; then the others as they stand. */
function inOrder(scene: Scene, commands: readonly ShownCommand[]): readonly ShownCommand[] {
  const first = (scene.first ?? []).map((begin) => {
    const found = commands.find(({ text }) => text.includes(begin));
    if (found) return found;
    throw new Error(`no command of ${scene.document} has ${begin}`);
  });
  return [...first, ...commands.filter((each) => !first.includes(each))];
}

/** Types all of a document's commands; those that fail, or print anything but what it shows. */
async function play(lab: Lab, scene: Scene): Promise<Problem[]> {
  const problems: Problem[] = [];
  await using reader = new Reader(lab);
  await scene.stage(reader);
  for (const command of inOrder(scene, commandsOf(scene.document))) {
    const act = actOf(scene, command);
    if (act?.notRun !== undefined) continue;
    try {
      const printed = await reader.type(command, act);
      if (printed !== undefined) problems.push({ ...command, printed });
    } catch (thrown) {
      problems.push({ ...command, failed: String(thrown) });
    }
  }
  return problems;
}

/** Writes what is printed into the document; a person cuts it where the document's is cut. */
async function renew(path: string, problems: readonly Problem[]): Promise<void> {
  let text = documents.get(path) ?? "";
  for (const { output, printed } of problems) {
    if (output === undefined || printed === undefined) continue;
    text = text.replace(output, () => printed.trimEnd().replaceAll(/\n{3,}/g, "\n\n"));
  }
  await Bun.write(join(ROOT, path), text);
}

for (const scene of SCENES) {
  scenario(
    `each command of ${scene.document} does what is shown`,
    async (lab) => {
      const problems = await play(lab, scene);
      if (RENEWS) await renew(scene.document, problems);
      expect(problems).toEqual([]);
    },
    { needs: READERS, deadlineMs: DEADLINE_MS },
  );
}

test("each document with commands is played, and each act is for one of them", () => {
  const withCommands = [...documents.keys()].filter((path) => commandsOf(path).length > 0);
  expect(SCENES.map(({ document }) => document).sort()).toEqual(withCommands.sort());
  for (const scene of SCENES) {
    const used = new Set(commandsOf(scene.document).map((each) => actOf(scene, each)));
    expect(scene.acts.filter((act) => !used.has(act))).toEqual([]);
  }
});
