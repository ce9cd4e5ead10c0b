import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refuseChangedArguments } from "../../cli/place/argument-text.ts";
import { bundleLauncher } from "../../scripts/bundle.ts";
import { LINUX, testWith } from "../support/needs.ts";

const MAIN = join(import.meta.dir, "../../cli/main.ts");
const TYPED = "caf\u{fffd}";
const bytes = (text: string) => () => new TextEncoder().encode(text);

const FROM_SOURCE = `"${process.execPath}" "${MAIN}"`;

/** Runs a line of a shell, in which `memsync` is the command, in a home of its own. */
async function runLine(line: string, command = FROM_SOURCE) {
  const dir = await mkdtemp(join(tmpdir(), "memsync-arguments-"));
  try {
    const script = `memsync() { ${command} "$@"; }; ${line}`;
    const { npm_lifecycle_event: _, ...rest } = process.env;
    const env = { ...rest, MEMSYNC_HOME: join(dir, "home") };
    const shell = Bun.spawn(["sh", "-c", script], { cwd: dir, env, stderr: "pipe" });
    const [stderr, status] = await Promise.all([new Response(shell.stderr).text(), shell.exited]);
    return { stderr, status };
  } finally {
    await rm(dir, { recursive: true });
  }
}

for (const words of ["set u8", "add", "set --layer user u8", "search", "conflicts settle"]) {
  test(`\`${words}\` refuses an argument that is not UTF-8`, async () => {
    const { stderr, status } = await runLine(`memsync ${words} "$(printf 'caf\\351')"`);
    expect([stderr, status]).toEqual([expect.stringContaining("nothing is saved"), 2]);
  });
}

testWith(
  LINUX,
  "the launcher refuses what Node would hand on changed, and nothing else",
  async () => {
    const dir = await mkdtemp(join(tmpdir(), "memsync-launcher-"));
    try {
      const launcher = join(dir, "memsync");
      await bundleLauncher(join(import.meta.dir, "../../scripts/launcher/launcher.ts"), launcher);
      const run = (words: string) => runLine(`memsync set u8 ${words}`, `node "${launcher}"`);
      const changed = await run(`"$(printf 'caf\\351')"`);
      expect([changed.stderr, changed.status]).toEqual([expect.stringContaining("not UTF-8"), 2]);
      // There is no program beside it that it could hand these to.
      for (const typed of ["café", TYPED]) {
        expect((await run(typed)).stderr).toContain("no package that memsync could run from");
      }
    } finally {
      await rm(dir, { recursive: true });
    }
  },
);

test("U+FFFD that was typed is an argument where the system shows it", () => {
  const call = { args: ["set", "u8", TYPED], isByNpm: false };
  refuseChangedArguments({ ...call, rawArguments: bytes(`memsync\0set\0u8\0${TYPED}\0`) });
});

test("U+FFFD is refused where nobody can tell if it was typed, but for naming what is there", () => {
  const ways = [
    { rawArguments: () => undefined, isByNpm: false },
    { rawArguments: bytes(TYPED), isByNpm: true },
  ];
  for (const way of ways) {
    expect(() => refuseChangedArguments({ ...way, args: ["set", "u8", TYPED] })).toThrow(
      "give the text by standard input",
    );
    refuseChangedArguments({ ...way, args: ["rm", TYPED] });
  }
});

const ADVICE: readonly (readonly [line: string, advice: string])[] = [
  ["login https://host.example", "say it so: `memsync login --url https://host.example`"],
  ["set build npm run build", 'put the value in quotes: `memsync set build "npm run build"`'],
  ["rm one two", "say it so: `memsync rm <key>`"],
  ["set build 'a' '\"b\"'", "say it so: `memsync set <key> <value>`"],
  ["rm", "say it so: `memsync rm <key>`"],
  ["conflicts show", "say it so: `memsync conflicts show <id>`"],
  ["sync now", "say it so: `memsync sync`"],
  ["move build", "say it so: `memsync move <key> --layer <layer>`"],
  ["server user rm", "say it so: `memsync server user rm <name> --account <account>`"],
  ["server user rm ann", "say it so: `memsync server user rm <name> --account <account>`"],
];
for (const [line, advice] of ADVICE) {
  test(`what is missing or too much is answered with what to do: ${line}`, async () => {
    const { stderr, status } = await runLine(`memsync ${line}`);
    expect([stderr, status]).toEqual([expect.stringContaining(advice), 2]);
  });
}
