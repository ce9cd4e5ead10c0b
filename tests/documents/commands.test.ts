import { expect, test } from "bun:test";
import { join } from "node:path";
import { Lab } from "../support/lab.ts";
import { programs, testWith } from "../support/needs.ts";
import { PATIENCE } from "../support/wait-for.ts";
import { ROOT } from "../tidy/source-tree.ts";
import { commandsIn, readDocuments, type ShownCommand } from "./commands.ts";
import { type Act, Reader } from "./reader.ts";
import { SCENES, type Scene } from "./scenes.ts";

const DEADLINE_MS = 240_000 * PATIENCE;

/** What a reader types into, and with. */
const READERS = programs("bash", "curl", "npm");

/** `MEMSYNC_RENEW_DOCUMENTS=1` has the documents show what is printed now. */
const RENEWS = process.env.MEMSYNC_RENEW_DOCUMENTS === "1";

interface Difference extends ShownCommand {
  readonly printed: string;
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

/** Types all of a document's commands; what is not as the document shows it. */
async function play(scene: Scene): Promise<Difference[]> {
  const lab = new Lab();
  const differences: Difference[] = [];
  try {
    await using reader = new Reader(lab);
    await scene.stage(reader);
    for (const command of inOrder(scene, commandsOf(scene.document))) {
      const act = actOf(scene, command);
      if (act?.notRun !== undefined) continue;
      const printed = await reader.type(command, act).catch(String);
      if (printed !== undefined) differences.push({ ...command, printed });
    }
  } finally {
    await lab.end();
  }
  return differences;
}

/** Writes what is printed into the document; a person cuts it where the document's is cut. */
async function renew(path: string, differences: readonly Difference[]): Promise<void> {
  let text = documents.get(path) ?? "";
  for (const { output = "", printed } of differences) {
    text = text.replace(output, () => printed.trimEnd().replaceAll(/\n{3,}/g, "\n\n"));
  }
  await Bun.write(join(ROOT, path), text);
}

for (const scene of SCENES) {
  const body = async () => {
    const differences = await play(scene);
    if (RENEWS) await renew(scene.document, differences);
    expect(differences).toEqual([]);
  };
  testWith(READERS, `each command of ${scene.document} does what is shown`, body, DEADLINE_MS);
}

test("each document with commands is played, and each act is for one of them", () => {
  const withCommands = [...documents.keys()].filter((path) => commandsOf(path).length > 0);
  expect(SCENES.map(({ document }) => document).sort()).toEqual(withCommands.sort());
  for (const scene of SCENES) {
    const used = new Set(commandsOf(scene.document).map((each) => actOf(scene, each)));
    expect(scene.acts.filter((act) => !used.has(act))).toEqual([]);
  }
});
