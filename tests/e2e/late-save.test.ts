import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { type FileHandle, open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const START = "# Start\n\nfirst\n";

/** Both machines hold the same text; a program on A has the file open. */
async function startWithOpenFile(lab: Lab, account: string) {
  const [a, b] = await lab.twoMachines(emulator.account(account), { ".gitignore": FILE });
  await Promise.all([a.up(), b.up()]);
  await writeFile(pathOn(a), START);
  await untilFiles([a, b], (text) => text === START);
  const handle = await open(pathOn(a), "r+");
  return { a, b, handle };
}

function pathOn(machine: Machine): string {
  return `${machine.folder}/${FILE}`;
}

async function untilFiles(machines: readonly Machine[], holds: (text: string) => boolean) {
  return await waitFor("the files to be as they should", async () => {
    const texts = await Promise.all(machines.map((each) => readFile(pathOn(each), "utf8")));
    const [first = ""] = texts;
    return texts.every((text) => text === first && holds(text)) && first;
  });
}

/** Writes through what was opened, wherever its name has gone. */
async function saveThrough(handle: FileHandle, text: string): Promise<void> {
  await handle.truncate();
  await handle.write(text, 0);
  await handle.close();
}

scenario("what is saved into a file that we have replaced meanwhile is not lost", async (lab) => {
  const { a, b, handle } = await startWithOpenFile(lab, "replaced");
  const opened = (await handle.stat()).ino;
  await writeFile(pathOn(b), `${START}\nof b\n`);
  await untilFiles([a, b], (text) => text.includes("of b"));
  expect((await stat(pathOn(a))).ino).not.toBe(opened);
  await saveThrough(handle, `# Start\n\nfirst, changed\n\nof a\n`);
  const text = await untilFiles([a, b], (each) => each.includes("of a"));
  expect(text.split("\n").filter(Boolean).sort()).toEqual([
    "# Start",
    "first, changed",
    "of a",
    "of b",
  ]);
});

scenario("a save made in steps is taken when it is whole, then others' comes in", async (lab) => {
  const { a, b, handle } = await startWithOpenFile(lab, "steps");
  const whole = "# Start\n\nfirst\n\nsecond of a\n\nthird of a\n";
  const half = whole.slice(0, whole.indexOf("nd of a"));
  await handle.truncate();
  await handle.write(half, 0);
  await writeFile(pathOn(b), `of b\n\n${START}`);
  const { id } = await a.projectOf();
  await waitFor("a to have b's save", async () => (await a.doc(id)).includes("of b"));
  expect(await readFile(pathOn(a), "utf8")).toBe(half);
  await handle.write(whole.slice(half.length), half.length);
  await handle.close();
  const text = await untilFiles([a, b], (each) => each.includes("third of a\n"));
  expect(text.split("\n").filter(Boolean).sort()).toEqual([
    "# Start",
    "first",
    "of b",
    "second of a",
    "third of a",
  ]);
});

/** What a crash leaves between the swap of the names and what follows on it. */
function asBeforeTheEnd(machine: Machine, change: () => Promise<void>) {
  const read = `select hash, base, form from followed_files`;
  const [before] = inHome(machine, (home) => home.query<FollowedRow, []>(read).all());
  return async () => {
    await change();
    await machine.down("SIGKILL");
    if (!before) throw new Error("nothing is followed");
    inHome(machine, (home) => {
      const { hash, base, form } = before;
      // Unless the crash has left it so by itself.
      home.run(
        `update followed_files set next_hash = hash, next_base = base, next_form = form,
          hash = ?, base = ?, form = ? where next_hash is null`,
        [hash, base, form],
      );
    });
  };
}

interface FollowedRow {
  readonly hash: string;
  readonly base: string;
  readonly form: string;
}

function inHome<Result>({ home }: Machine, work: (database: Database) => Result): Result {
  using database = new Database(`${home}/memsync.db`);
  return work(database);
}

scenario("a save whose name a crash has cost it is taken at the next start", async (lab) => {
  const { a, b, handle } = await startWithOpenFile(lab, "crashed");
  await handle.close();
  const crash = asBeforeTheEnd(a, async () => {
    await writeFile(pathOn(b), `${START}\nof b\n`);
    await untilFiles([a, b], (text) => text.includes("of b"));
  });
  await crash();
  await writeFile(`${a.folder}/.${FILE}.abcdefg2.memsync`, `${START}\nof a\n`);
  await writeFile(`${a.folder}/.${FILE}.abcdefg3.memsync`, START);
  await a.up();
  const text = await untilFiles([a, b], (each) => each.includes("of a"));
  expect(text.split("\n").filter(Boolean).sort()).toEqual(["# Start", "first", "of a", "of b"]);
  expect((await readdir(a.folder)).filter((name) => name.endsWith(".memsync"))).toEqual([]);
});
