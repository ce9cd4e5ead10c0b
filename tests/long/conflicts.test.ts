import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { anHourLater } from "../support/an-hour-later.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const TITLE = "# Widget\n\n";

interface Written {
  readonly value: string;
  readonly machine: string | null;
  readonly written_at: string;
}

type Conflict = { readonly id: string; readonly project_id: string | null } & (
  | (Written & { readonly kind: "memory"; readonly key: string; readonly winner: Written })
  | {
      readonly kind: "deletion";
      readonly key: string;
      readonly machine: string | null;
      readonly also_in: readonly string[];
      readonly winner: Written;
    }
  | {
      readonly kind: "move";
      readonly key: string;
      readonly outcomes: readonly { readonly moved_to: string | null }[];
    }
  | {
      readonly kind: "text";
      readonly found_at: string;
      readonly versions: readonly {
        readonly text: string;
        readonly machine: string | null;
        readonly in_document: boolean;
      }[];
    }
);

async function conflictsOf(machine: Machine, ...args: string[]): Promise<Conflict[]> {
  return JSON.parse(await machine.memsync("conflicts", "--json", ...args)) as Conflict[];
}

async function fileOf(machine: Machine): Promise<string> {
  return await readFile(join(machine.folder, FILE), "utf8");
}

async function untilConflicts(machine: Machine, count: number): Promise<Conflict[]> {
  return await waitFor(`${count} conflicts on ${machine.name}`, async () => {
    const found = await conflictsOf(machine);
    return found.length === count && found;
  });
}

/** Two machines, `laptop` and `desktop`, that have the same file and memory; daemons are down. */
async function makePair(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const pair = await lab.twoMachines(emulator.account(account), { ".gitignore": FILE });
  const [laptop, desktop] = pair;
  await lab.git.write(join(laptop.home, "machine"), "laptop\n");
  await lab.git.write(join(desktop.home, "machine"), "desktop\n");
  await Promise.all([laptop.up(), desktop.up()]);
  await laptop.memsync("set", "build", "make");
  await writeFile(join(laptop.folder, FILE), `${TITLE}one\ntwo\nthree\n`);
  await waitFor("the same on the desktop", async () => {
    const memory = (await desktop.run(["get", "build"])).stdout === "make";
    return memory && (await fileOf(desktop)) === (await fileOf(laptop));
  });
  await Promise.all([laptop.untilSynced(), desktop.untilSynced()]);
  await Promise.all([laptop.down(), desktop.down()]);
  return pair;
}

/** Starts both and waits until each has what the other wrote. */
async function meet([laptop, desktop]: readonly [Machine, Machine]): Promise<void> {
  await laptop.up();
  await laptop.untilSynced();
  await desktop.up();
  await desktop.untilSynced();
}

scenario("the losing value of a key is shown on both machines, and restored", async (lab) => {
  const pair = await makePair(lab, "losing-value");
  const [laptop, desktop] = pair;
  const lost = "\nnpm run build,\n  never make\r\n\n";
  await laptop.memsyncWith({ stdin: lost }, "set", "build", "-");
  await desktop.memsync("set", "build", "bun run build");
  await meet(pair);
  for (const machine of pair) {
    const [conflict, ...others] = await untilConflicts(machine, 1);
    expect(others).toEqual([]);
    if (conflict?.kind !== "memory") throw new Error("not a memory's conflict");
    expect(conflict).toMatchObject({ key: "build", value: lost, machine: "laptop" });
    expect(conflict.winner).toMatchObject({ value: "bun run build", machine: "desktop" });
    expect(conflict.written_at < conflict.winner.written_at).toBe(true);
    const listed = await machine.memsync("conflicts");
    expect(listed).toContain(conflict.written_at.slice(0, 16).replace("T", " "));
    expect(listed).toMatch(/laptop +npm run build, …/);
    const terminal = new TerminalSession(lab, machine, ["conflicts"]);
    expect([await terminal.ended(), terminal.screen.wraps]).toEqual([0, 0]);
    await terminal.untilShown(/build .*npm run build, …/);
    await terminal[Symbol.asyncDispose]();
    const shown = await machine.memsync("conflicts", "show", conflict.id);
    expect(shown).toMatch(/lost, written .* on laptop\n\n {4}npm run build,\n {6}never make\n/);
    expect(await machine.memsync("status")).toContain("conflicts 1: `memsync conflicts` shows it");
    await using narrow = new TerminalSession(lab, machine, ["up"], {
      columns: 30,
      rows: 40,
    });
    expect(await narrow.ended()).toBe(0);
    await narrow.untilShown(/conflicts 1: `memsync\n +conflicts` shows it/);
    for (const command of ["status", "sync", "up"]) {
      expect(JSON.parse(await machine.memsync(command, "--json"))).toMatchObject({ conflicts: 1 });
    }
  }
  const [id] = (await conflictsOf(desktop)).map((conflict) => conflict.id);
  await desktop.memsync("conflicts", "restore", id ?? "");
  for (const machine of pair) {
    await waitFor(
      "the restored value",
      async () => (await machine.memsync("get", "build")) === lost,
    );
    expect(await conflictsOf(machine)).toEqual([]);
    const versions = JSON.parse(await machine.memsync("history", "build", "--json")) as Written[];
    expect(versions.map(({ value, machine: by }) => [value, by])).toEqual([
      [lost, "desktop"],
      ["bun run build", "desktop"],
      [lost, "laptop"],
      ["make", "laptop"],
    ]);
  }
});

scenario("a deletion that a write undid is shown on both machines, and settled", async (lab) => {
  const pair = await makePair(lab, "undone-deletion");
  const [laptop, desktop] = pair;
  const deletions = async (machine: Machine) => {
    return (await conflictsOf(machine)).filter((each) => each.kind === "deletion");
  };
  const untilShown = (machine: Machine, count: number) =>
    waitFor(`${count} deletions on ${machine.name}`, async () => {
      const found = await deletions(machine);
      return found.length === count && found;
    });
  await laptop.memsync("set", "build", "edit of the laptop");
  await desktop.memsync("rm", "build");
  await meet(pair);
  for (const machine of pair) {
    const [conflict] = await untilShown(machine, 1);
    expect(conflict).toMatchObject({ key: "build", machine: "desktop", also_in: [] });
    expect(await machine.memsync("get", "build")).toBe("edit of the laptop");
    expect(await machine.memsync("conflicts")).toMatch(/build +desktop +deleted; stands: edit of/);
    const shown = await machine.memsync("conflicts", "show", conflict?.id ?? "");
    expect(shown).toMatch(
      /1 {2}stands, written .* on laptop\n {4}edit of .*\n\n2 {2}deleted .* on desktop\n/s,
    );
    expect(await machine.memsync("history", "build")).toMatch(/desktop +deleted/);
  }
  const ids = new Set((await Promise.all(pair.map(deletions))).flat().map(({ id }) => id));
  expect(ids.size).toBe(1);
  const [id = ""] = ids;
  expect((await desktop.run(["conflicts", "restore", id])).status).toBe(1);
  expect(await laptop.memsync("conflicts", "choose", id, "1")).toMatch(/"build" stays; /);
  for (const machine of pair) {
    await untilShown(machine, 0);
    expect(await machine.memsync("get", "build")).toBe("edit of the laptop");
  }
  await Promise.all(pair.map((machine) => machine.untilSynced()));
  await Promise.all(pair.map((machine) => machine.down()));
  // A move is a deletion in the layer that the memory leaves.
  await laptop.memsync("set", "build", "another edit");
  await desktop.memsync("move", "build", "--layer", "user");
  await meet(pair);
  // The layers are documents of their own, and either may come first.
  for (const machine of pair) {
    const [conflict] = await waitFor("the layer that it was moved to", async () => {
      const found = await untilShown(machine, 1);
      return found[0]?.also_in.length === 1 && found;
    });
    expect(conflict).toMatchObject({ machine: "desktop", also_in: ["user"] });
  }
  const [moved] = await deletions(desktop);
  const chosen = await desktop.memsync("conflicts", "choose", moved?.id ?? "", "2");
  expect(chosen).toMatch(/"build" is deleted, and its history has it; /);
  for (const machine of pair) {
    await untilShown(machine, 0);
    expect(await machine.memsync("get", "build")).toBe("edit of the laptop");
    expect((await machine.run(["get", "build", "--layer", "project"])).status).toBe(1);
  }
});

scenario("a memory that one moved, and another deleted or moved, is settled", async (lab) => {
  const pair = await makePair(lab, "moved-twice");
  const [laptop, desktop] = pair;
  /** Until each machine offers these places, null for none. */
  const untilOffered = async (...offered: (string | null)[][]) => {
    for (const machine of pair) {
      await waitFor(`${offered.length} moves on ${machine.name}`, async () => {
        const found = (await conflictsOf(machine)).filter((each) => each.kind === "move");
        const shown = found.map(({ outcomes }) => outcomes.map((each) => each.moved_to));
        return JSON.stringify(shown) === JSON.stringify(offered);
      });
    }
  };
  const idOf = async (machine: Machine) => (await conflictsOf(machine))[0]?.id ?? "";
  const down = async () => {
    await Promise.all(pair.map((machine) => machine.untilSynced()));
    await Promise.all(pair.map((machine) => machine.down()));
  };
  await laptop.memsync("rm", "build");
  await desktop.memsync("set", "build", "edit of the desktop");
  await desktop.memsync("move", "build", "--layer", "user");
  await meet(pair);
  await untilOffered(["user", null]);
  const id = await idOf(laptop);
  expect(await idOf(desktop)).toBe(id);
  expect(await laptop.memsync("conflicts")).toMatch(
    / build +desktop, laptop +deleted \| moved to user: edit of the desktop/,
  );
  expect(await laptop.memsync("conflicts", "show", id)).toMatch(
    /deleted and moved at once\n\n1 {2}stands in user, moved there .* on desktop\n {4}edit of the desktop\n\n2 {2}deleted .* on laptop\n/s,
  );
  expect((await desktop.run(["conflicts", "restore", id])).status).toBe(1);
  expect((await desktop.run(["conflicts", "choose", id, "3"])).status).toBe(2);
  expect(await laptop.memsync("conflicts", "choose", id, "2")).toMatch(/^"build" is deleted, /);
  await untilOffered();
  for (const machine of pair) expect((await machine.run(["get", "build"])).status).toBe(1);
  await laptop.memsync("set", "build", "again");
  await down();
  await laptop.memsync("move", "build", "--layer", "user");
  await desktop.memsync("move", "build", "--layer", "global", "--yes");
  await meet(pair);
  await untilOffered(["global", "user"]);
  expect(await desktop.memsync("conflicts", "choose", await idOf(desktop), "1")).toMatch(
    /^"build" stays in global alone; /,
  );
  await untilOffered();
  for (const machine of pair) {
    await waitFor(`no other one on ${machine.name}`, async () => {
      return (
        (await machine.memsync("list")).match(/^build .*$/gm)?.join() === "build  global  again"
      );
    });
  }
});

scenario(
  "both versions of a line are shown on both machines, until one of them is deleted",
  async (lab) => {
    const pair = await makePair(lab, "losing-line");
    const [laptop, desktop] = pair;
    await writeFile(join(laptop.folder, FILE), `${TITLE}one\ntwo of the laptop\nthree\n`);
    await writeFile(join(desktop.folder, FILE), `${TITLE}one\ntwo of the desktop\nthree\n`);
    await meet(pair);
    const both = `${TITLE}one\ntwo of the desktop\ntwo of the laptop\nthree\n`;
    const swapped = `${TITLE}one\ntwo of the laptop\ntwo of the desktop\nthree\n`;
    const merged = await waitFor("both lines in both files", async () => {
      const [one, other] = await Promise.all(pair.map(fileOf));
      return one === other && (one === both || one === swapped) && one;
    });
    for (const machine of pair) {
      const [conflict] = await untilConflicts(machine, 1);
      if (conflict?.kind !== "text") throw new Error("not a text's conflict");
      expect(conflict.versions).toMatchObject([
        { text: "two of the desktop\n", machine: "desktop", in_document: true },
        { text: "two of the laptop\n", machine: "laptop", in_document: true },
      ]);
      const early = await machine.run(["conflicts", "restore", conflict.id]);
      expect([early.status, early.stdout]).toEqual([1, ""]);
      expect(early.stderr).toContain("both versions are in the document");
    }
    const kept = merged.replace("two of the laptop\n", "");
    await desktop.down();
    anHourLater(desktop);
    await writeFile(join(desktop.folder, FILE), kept);
    await desktop.up();
    await waitFor("the deletion on the laptop", async () => (await fileOf(laptop)) === kept);
    for (const machine of pair) await untilConflicts(machine, 0);
    for (const machine of pair) expect(await fileOf(machine)).toBe(kept);
  },
);

scenario("conflicts outlive restarts, and one that is dismissed goes everywhere", async (lab) => {
  const pair = await makePair(lab, "dismissed");
  const [laptop, desktop] = pair;
  await laptop.memsync("set", "build", "lost");
  await laptop.memsync("set", "editor", "vim", "--layer", "user");
  await desktop.memsync("set", "build", "kept");
  await desktop.memsync("set", "editor", "emacs", "--layer", "user");
  await writeFile(join(laptop.folder, FILE), `${TITLE}one\nlaptop\nthree\n`);
  await writeFile(join(desktop.folder, FILE), `${TITLE}one\ndesktop\nthree\n`);
  await meet(pair);
  const before = await untilConflicts(laptop, 3);
  await untilConflicts(desktop, 3);
  for (const machine of pair) {
    await machine.down("SIGKILL");
    expect(await conflictsOf(machine)).toEqual(before);
    await machine.up();
    expect(await conflictsOf(machine)).toEqual(before);
  }
  expect(await conflictsOf(laptop, "--layer", "user")).toHaveLength(1);
  expect(await conflictsOf(laptop, "--project", laptop.folder)).toHaveLength(2);
  expect(await conflictsOf(laptop, "--layer", "global")).toEqual([]);
  await laptop.untilSynced();
  await laptop.down();
  const ids = before.map(({ id }) => id);
  const mistyped = await laptop.run(["conflicts", "dismiss", ...ids, "mistyped"]);
  expect([mistyped.status, mistyped.stdout]).toEqual([1, ""]);
  expect(mistyped.stderr).toContain("there is no conflict mistyped");
  expect(await conflictsOf(laptop)).toEqual(before);
  const said = await laptop.memsync("conflicts", "dismiss", ...ids);
  expect([...said.matchAll(/dismissed \w+/g)].map(String)).toEqual(
    ids.map((id) => `dismissed ${id}`),
  );
  for (const id of ids) expect((await laptop.run(["conflicts", "dismiss", id])).status).toBe(1);
  expect(await conflictsOf(laptop)).toEqual([]);
  expect(await laptop.memsync("get", "build")).toBe("kept");
  await laptop.up();
  for (const machine of pair) {
    await untilConflicts(machine, 0);
    expect(await machine.memsync("get", "build")).toBe("kept");
    expect(await machine.memsync("get", "editor")).toBe("emacs");
    expect(await machine.memsync("history", "build")).toMatch(/laptop +replaced +lost/);
    expect(await fileOf(machine)).toContain("laptop\n");
  }
});

scenario(
  "what `restore` settles besides is said: the other versions of the same memory",
  async (lab) => {
    const pair = await makePair(lab, "three-values");
    const [laptop] = pair;
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "c");
    const tablet = lab.machine("c", lab.git.path("c"), laptop.service);
    await tablet.up();
    await tablet.untilSynced();
    await tablet.down();
    for (const machine of [tablet, ...pair]) await machine.memsync("set", "build", machine.name);
    await meet(pair);
    await tablet.up();
    await tablet.untilSynced();
    const [first, second] = await untilConflicts(tablet, 2);
    const said = await tablet.memsync("conflicts", "restore", first?.id ?? "");
    expect(said).toContain('restored "build"; what it replaced is in its history;');
    expect(said).toContain(`; ${second?.id} is settled, too`);
    expect(await conflictsOf(tablet)).toEqual([]);
  },
);

scenario("a write without a daemon settles its key's conflict at once", async (lab) => {
  const pair = await makePair(lab, "settled");
  const [laptop, desktop] = pair;
  await laptop.memsync("set", "build", "lost");
  await desktop.memsync("set", "build", "kept");
  await meet(pair);
  for (const machine of pair) await untilConflicts(machine, 1);
  await desktop.untilSynced();
  await desktop.down();
  await desktop.memsync("set", "build", "by a person");
  expect(await conflictsOf(desktop)).toEqual([]);
  await desktop.up();
  for (const machine of pair) {
    await untilConflicts(machine, 0);
    await waitFor(
      "the new value",
      async () => (await machine.memsync("get", "build")) === "by a person",
    );
    const history = await machine.memsync("history", "build");
    expect(history).toMatch(/desktop +replaced +kept/);
    expect(history).toMatch(/laptop +replaced +lost/);
  }
});

scenario("nothing of it is seen over the interface", async (lab) => {
  const pair = await makePair(lab, "unseen");
  const [laptop, desktop] = pair;
  await writeFile(join(laptop.folder, FILE), `${TITLE}one\nlaptop\nthree\n`);
  await writeFile(join(desktop.folder, FILE), `${TITLE}one\ndesktop\nthree\n`);
  await meet(pair);
  const [conflict] = await untilConflicts(laptop, 1);
  const { url, token } = emulator.account("unseen");
  const paths = [`/api/projects/${conflict?.project_id}`, "/api/projects", "/v1/projects"];
  for (const path of paths) {
    const answer = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    for (const text of [await answer.text(), JSON.stringify(await laptop.ask("GET", path))]) {
      expect(text).toContain(conflict?.project_id ?? "no id");
      expect(text).not.toContain("memsync.");
      expect(text).not.toContain("found_at");
    }
  }
});

scenario(
  "in a project linked nowhere a conflict has its name, and how to settle it",
  async (lab) => {
    const pair = await makePair(lab, "unlinked");
    const [laptop, desktop] = pair;
    await laptop.memsync("set", "build", "lost");
    await desktop.memsync("set", "build", "kept");
    await meet(pair);
    const [conflict] = await untilConflicts(laptop, 1);
    const { name, id } = await laptop.projectOf();
    await laptop.memsync("unlink", laptop.folder);
    const listed = await laptop.memsync("conflicts");
    expect(listed).toContain(` ${name} `);
    expect(listed).not.toContain(id);
    const dismissed = await laptop.memsync("conflicts", "dismiss", conflict?.id ?? "");
    expect(dismissed).toContain(
      `once this is synced, which needs a folder: \`memsync link DIR --id ${id}\``,
    );
  },
);
