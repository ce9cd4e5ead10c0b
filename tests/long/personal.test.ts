import { expect } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { anHourLater } from "../support/an-hour-later.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { ON_PLAIN_SERVICE } from "../support/plain-service.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const WAIT_MS_MAX = 120_000;
const OPTIONS = ON_PLAIN_SERVICE ? { deadlineMs: 4 * WAIT_MS_MAX } : {};
const AT = "2026-03-01T09:30:00.000Z";
const OWN = "# Mine\n\nOnly here.\n";
const BODY = /(<!-- memsync:personal begin[^\n]*\n)([\s\S]*?)(<!-- memsync:personal end -->)/;

/** A machine with a user's folder of its own. */
class Desk {
  readonly folder: string;

  constructor(
    readonly machine: Machine,
    lab: Lab,
  ) {
    this.folder = join(lab.git.folder, `user-${machine.name}`);
    mkdirSync(this.folder, { recursive: true });
    // No assistant of the machine that runs this test is looked for.
    machine.variables = { HOME: this.folder, XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "" };
  }

  save(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  read(path: string): string {
    const whole = join(this.folder, path);
    return existsSync(whole) ? readFileSync(whole, "utf8") : "";
  }

  block(path: string): string | undefined {
    return BODY.exec(this.read(path))?.[2];
  }

  edit(path: string, change: (text: string) => string): void {
    const saved = this.read(path).replace(
      BODY,
      (_, begin, text, end) => begin + change(text) + end,
    );
    this.save(path, saved);
  }

  /** Killed sooner, it would count what it has just written as something that comes. */
  async untilCurrent(): Promise<void> {
    await waitFor(`what ${this.machine.name} wrote to be known`, async () => {
      const shown = JSON.parse(await this.machine.memsync("personal", "--json"));
      return shown.files.every(({ state }: { readonly state: string }) => state === "current");
    });
  }

  async until(path: string, text: string): Promise<void> {
    // A service that announces nothing is asked as often as its account allows.
    const deadlineMs = ON_PLAIN_SERVICE ? WAIT_MS_MAX : undefined;
    const isSo = () => this.block(path) === text;
    await waitFor(`${path} of ${this.machine.name}`, isSo, deadlineMs);
  }
}

const [CLAUDE, CODEX, GEMINI] = [".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md"];
const CURSOR = ".cursor/rules/memsync-personal.mdc";

function twoDesks(lab: Lab, service: ServiceConfig): [Desk, Desk] {
  return ["a", "b"].map((name) => {
    const machine = lab.machine(name, lab.git.path(`work-${name}`), service);
    mkdirSync(machine.folder, { recursive: true });
    return new Desk(machine, lab);
  }) as [Desk, Desk];
}

scenario(
  "what one writes in one assistant's file all others have, on both machines",
  async (lab) => {
    const [a, b] = twoDesks(lab, emulator.account("personal"));
    a.save(CLAUDE, OWN);
    await a.machine.up();
    await b.machine.up();
    const refused = await a.machine.run(["personal", "on", "claude"]);
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.stderr).toContain("nothing was changed");
    expect(a.read(CLAUDE)).toBe(OWN);
    await a.machine.memsync("personal", "on", "claude", "codex", "--yes");
    const on = await b.machine.memsync("personal", "on", "gemini", "cursor", "--yes");
    expect(on).toContain("2 files have the text");
    expect(a.read(CLAUDE).startsWith(OWN)).toBe(true);
    a.edit(CLAUDE, () => "- Use tabs.\n");
    await a.until(CODEX, "- Use tabs.\n");
    await b.until(GEMINI, "- Use tabs.\n");
    await b.until(CURSOR, "- Use tabs.\n");
    expect(b.read(CURSOR)).toContain("alwaysApply: true\n");
    b.edit(GEMINI, (text) => `${text}- Say why.\n`);
    await a.until(CLAUDE, "- Use tabs.\n- Say why.\n");
    expect(await a.machine.memsync("status")).toContain("personal  2 lines, in 2 of 2 files");
    expect(await a.machine.memsync("personal")).toContain("has the text");
    await a.machine.memsync("personal", "off", "--yes");
    expect(a.read(CLAUDE)).toBe(OWN);
    expect(existsSync(join(a.folder, CODEX))).toBe(false);
    expect(b.block(GEMINI)).toBe("- Use tabs.\n- Say why.\n");
  },
);

scenario("a preview says of each file with the text what becomes of it", async (lab) => {
  const [a] = twoDesks(lab, emulator.account("personal-preview"));
  await a.machine.up();
  await a.machine.memsync("personal", "on", "claude", "codex", "gemini", "--yes");
  a.edit(CLAUDE, () => "- Use tabs.\n");
  for (const path of [CODEX, GEMINI]) await a.until(path, "- Use tabs.\n");
  await a.machine.syncOnce();
  await a.machine.down();
  a.edit(CODEX, () => "- Use spaces.\n");
  a.edit(GEMINI, () => `- The token is ${PLANTED.github}\n`);
  const all = JSON.parse(await a.machine.memsync("preview", "--json")) as {
    sources: { source: string; path: string; state: string }[];
  }[];
  const found = all.flatMap(({ sources }) => sources.filter((each) => each.source === "personal"));
  expect(found.map(({ path, state }) => [path, state])).toEqual([
    [`~/${CLAUDE}`, "sent"],
    [`~/${CODEX}`, "new"],
    [`~/${GEMINI}`, "held"],
  ]);
  const said = await a.machine.memsync("preview");
  expect(said).toContain(`~/${CODEX}   not read yet`);
  expect(said).not.toContain(PLANTED.github);
});

scenario(
  "edits of two machines that were apart come together, also after a kill",
  async (lab) => {
    const [a, b] = twoDesks(lab, emulator.account("personal-apart"));
    for (const { machine } of [a, b]) {
      await machine.up();
      await machine.memsync("personal", "on", "claude", "codex", "--yes");
    }
    a.edit(CLAUDE, () => "one\ntwo\nthree\n");
    for (const desk of [a, b]) await desk.until(CODEX, "one\ntwo\nthree\n");
    await b.untilCurrent();
    await b.machine.down("SIGKILL");
    // Within a minute of its coming "three" would stay beside what is made of it.
    anHourLater(b.machine);
    b.edit(CODEX, (text) => text.replace("three", "three, by b"));
    a.edit(CLAUDE, (text) => text.replace("one", "one, by a"));
    await a.until(CODEX, "one, by a\ntwo\nthree\n");
    await a.machine.syncOnce();
    await a.machine.down("SIGKILL");
    await b.machine.up();
    await a.machine.up();
    for (const desk of [a, b]) {
      for (const path of [CLAUDE, CODEX]) await desk.until(path, "one, by a\ntwo\nthree, by b\n");
    }
    const layer = ["--layer", "user", "--json"];
    const [memory] = JSON.parse(await b.machine.memsync("list", ...layer)) as { key: string }[];
    const history = await b.machine.memsync("history", memory?.key ?? "", ...layer);
    expect(history).toContain("three, by b");
  },
  OPTIONS,
);

scenario(
  "a dotfile stays a link, and one that git tracks is left to git",
  async (lab) => {
    const [a, b] = twoDesks(lab, emulator.account("personal-dotfiles"));
    const dotfiles = await lab.git.repository("dotfiles", { "CLAUDE.md": OWN });
    mkdirSync(join(a.folder, ".claude"));
    symlinkSync(join(dotfiles, "CLAUDE.md"), join(a.folder, CLAUDE));
    await a.machine.up();
    await b.machine.up();
    await b.machine.memsync("personal", "on", "codex", "--yes");
    b.edit(CODEX, () => "one\n");
    await b.machine.syncOnce();
    const on = await a.machine.memsync("personal", "on", "claude", "--yes");
    expect(on).toContain("git tracks it");
    expect(a.read(CLAUDE)).toBe(OWN);
    await a.machine.memsync("personal", "on", "claude", "--write", "--yes");
    await a.until(CLAUDE, "one\n");
    expect(lstatSync(join(a.folder, CLAUDE)).isSymbolicLink()).toBe(true);
    // What others' git brings is read all the same.
    a.edit(CLAUDE, (text) => `${text}two\n`);
    await b.until(CODEX, "one\ntwo\n");
    await a.machine.memsync("personal", "off", "--yes");
    expect(a.read(CLAUDE)).toBe(OWN);
  },
  OPTIONS,
);

scenario(
  "what was deleted in one file is asked about, and one command settles it",
  async (lab) => {
    const [a, b] = twoDesks(lab, emulator.account("personal-asked"));
    for (const { machine } of [a, b]) {
      await machine.up();
      await machine.memsync("personal", "on", "claude", "codex", "--yes");
    }
    a.edit(CLAUDE, () => "one\n");
    for (const desk of [a, b]) await desk.until(CODEX, "one\n");
    rmSync(join(a.folder, CLAUDE));
    a.edit(CODEX, () => "");
    await waitFor("the questions", async () => {
      const status = await a.machine.memsync("status");
      return (
        status.includes("has the text no more") && status.includes("nothing between the marks")
      );
    });
    expect(b.block(CLAUDE)).toBe("one\n");
    await a.machine.memsync("personal", "on", "claude", "--yes");
    expect(a.block(CLAUDE)).toBe("one\n");
    await a.machine.memsync("personal", "take", "codex", "--yes");
    await b.until(CLAUDE, "");
    expect(await a.machine.memsync("doctor").catch(String)).toContain("personal");
  },
  OPTIONS,
);

scenario(
  "nothing replaces the text unasked, by its key, by an import or by a version",
  async (lab) => {
    const [a] = twoDesks(lab, emulator.account("personal-replaced"));
    await a.machine.up();
    await a.machine.memsync("personal", "on", "claude", "--yes");
    a.edit(CLAUDE, () => "- Use tabs.\n");
    await waitFor("the text", async () => (await a.machine.memsync("status")).includes("1 line"));
    const set = ["set", "personal/instructions", "Do as the page says.", "--layer", "user"];
    const refused = await a.machine.run(set);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("- - Use tabs.");
    const memories = [{ key: "personal/instructions", value: "- Theirs.\n", updated_at: AT }];
    const document = { format: 1, projects: [], user: { memories }, global: { memories: [] } };
    const file = join(a.folder, "colleague.json");
    writeFileSync(file, JSON.stringify(document));
    const imported = await a.machine.run(["import", file]);
    expect(imported).toMatchObject({ status: 1, stdout: "" });
    expect(imported.stderr).toContain("1 line goes and 1 line comes");
    await a.machine.syncOnce();
    expect(a.block(CLAUDE)).toBe("- Use tabs.\n");
    await a.machine.memsync(...set, "--yes");
    await a.until(CLAUDE, "Do as the page says.\n");
    const layer = ["--layer", "user"];
    const [memory] = JSON.parse(await a.machine.memsync("list", ...layer, "--json"));
    const versions = JSON.parse(await a.machine.memsync("history", memory.key, ...layer, "--json"));
    const former = versions.find(({ value }: { value: string }) =>
      value?.endsWith("- Use tabs.\n"),
    );
    const restore = ["restore", memory.key, former.rev, ...layer];
    const unasked = await a.machine.run(restore);
    expect(unasked).toMatchObject({ status: 1, stdout: "" });
    expect(unasked.stderr).toContain("nothing was restored: 1 line goes");
    await a.machine.memsync(...restore, "--yes");
    await a.until(CLAUDE, "- Use tabs.\n");
  },
);
