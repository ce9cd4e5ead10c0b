import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { type Arrow, arrowsIn, headOf, readArrows } from "../support/drawn-arrows.ts";
import { readTransitions } from "../support/transition-table.ts";

/** A state machine: its file, and the table of a document that another test compares with it. */
interface Machine {
  readonly file: string;
  readonly page: string;
  readonly corner: string;
  /** States that the drawing leaves to the sentence below it, for any other leads there. */
  readonly told: readonly string[];
  /** What the table has for the sake of its cells, and what never happens. */
  readonly never: readonly string[];
}

const MACHINES: readonly Machine[] = [
  {
    file: "daemon/supervise/daemon-life.ts",
    page: "docs/design/supervision.md",
    corner: "life",
    told: ["stopped"],
    never: [],
  },
  {
    file: "daemon/sync/call-machine.ts",
    page: "docs/design/sync.md",
    corner: "calls",
    told: ["stopped"],
    never: [],
  },
  {
    file: "daemon/sync/incoming.ts",
    page: "PROTOCOL.md",
    corner: "from",
    told: [],
    never: [],
  },
  {
    file: "daemon/sync/live-machine.ts",
    page: "docs/design/sync.md",
    corner: "phase",
    told: ["idle", "paused", "stopped", "reopening"],
    never: ["opening → live"],
  },
  {
    file: "daemon/budget/budget.ts",
    page: "docs/design/sync.md",
    corner: "limits",
    told: [],
    never: [],
  },
  {
    file: "daemon/sync/contact.ts",
    page: "docs/design/sync.md",
    corner: "contact",
    told: [],
    never: [],
  },
  {
    file: "daemon/sync/service-kind.ts",
    page: "docs/design/published-only.md",
    corner: "kind",
    told: [],
    never: [],
  },
];

/** "FROM → TO" by EVENT, for each arrow and each event that takes it. */
type Steps = readonly string[];

interface Table {
  readonly states: readonly string[];
  readonly events: readonly string[];
  readonly steps: Steps;
}

const stepOf = (from: string, to: string, event: string) => `${from} → ${to} by ${event}`;

/** The steps of a table, but for those that lead from a state to itself. */
async function readTable({ page, corner, told, never }: Machine): Promise<Table> {
  const table = await readTransitions(page, corner);
  const [states, events] = [new Set<string>(), new Set<string>()];
  const steps = [...table].flatMap(([key, cell]) => {
    const [from = ""] = key.split(" ", 1);
    const event = key.slice(from.length + 1);
    states.add(from);
    events.add(event);
    const to = cell.split(" or ").filter((each) => each !== from);
    const isDrawn = (state: string) =>
      !told.includes(state) && !never.includes(`${from} → ${state}`);
    return told.includes(from) ? [] : to.filter(isDrawn).map((each) => stepOf(from, each, event));
  });
  return { states: [...states], events: [...events], steps: [...new Set(steps)].sort() };
}

/** The steps of arrows. What stands in brackets says when this step is taken, and not another. */
function stepsOf(arrows: readonly Arrow[], events: readonly string[]): Steps {
  const steps = arrows.flatMap(({ from, to, label }) => {
    return eventsIn(label.replaceAll(/ ?\([^)]*\)/g, ""), events).map((event) => {
      return stepOf(from, to, event);
    });
  });
  return [...new Set(steps)].sort();
}

/** The events that a label names; an event's own name may have a comma or "or" in it. */
function eventsIn(label: string, events: readonly string[]): string[] {
  const longestFirst = [...events].sort((one, other) => other.length - one.length);
  const event = longestFirst.find((each) => label === each || begins(label, each));
  if (event === undefined) throw new Error(`"${label}" is not what the table calls an event`);
  const rest = label.slice(event.length).replace(AND, "");
  return rest === "" ? [event] : [event, ...eventsIn(rest, events)];
}

const AND = /^(, | or )(?=.)/;

function begins(label: string, event: string): boolean {
  return label.startsWith(event) && AND.test(label.slice(event.length));
}

test.each([...MACHINES])(
  "the drawing of $file has the arrows and events of its table",
  async (machine) => {
    const { states, events, steps } = await readTable(machine);
    expect(steps).not.toEqual([]);
    expect(stepsOf(await readArrows(machine.file, states), events)).toEqual(steps);
  },
);

test("each drawing at the head of a file has its table", async () => {
  const root = join(import.meta.dir, "../..");
  const drawn: string[] = [];
  for (const room of ["cli", "client", "conformance", "daemon", "server", "shared"]) {
    for await (const path of new Glob(`${room}/**/*.ts`).scan(root)) {
      const head = headOf(await Bun.file(join(root, path)).text());
      if (head.some((line) => /[▶◀▲▼]/.test(line))) drawn.push(path);
    }
  }
  expect(drawn.sort()).toEqual(MACHINES.map(({ file }) => file).sort());
});

const STATES = ["here", "there", "gone"];

test("an arrow is read around corners, from several states, and with what is written in it", () => {
  const drawing = [
    "  here ───go──▶ there ◀─no or aside─ gone",
    "   ▲ └─back─▶ here  │                 │",
    "   │                └─aside, no──┬────┘",
    "   │      gone ──go on (late)──┐ └──go──▶ gone",
    "   └─────────go────────────────┘   there",
  ];
  expect(
    arrowsIn(drawing, STATES).map(({ from, to, label }) => `${from} → ${to}: ${label}`),
  ).toEqual([
    "here → there: go",
    "gone → there: no or aside",
    "gone → here: go on (late), go",
    "here → here: back",
    "gone → gone: go",
    "there → gone: aside, no, go",
  ]);
});

test("a label is read as the events that it names", () => {
  const events = ["no", "no or aside", "aside", "go on"];
  const of = (label: string) => stepsOf([{ from: "here", to: "there", label }], events);
  const by = (...names: string[]) => names.map((name) => `here → there by ${name}`);
  expect(of("no or aside, go on")).toEqual(by("go on", "no or aside"));
  expect(of("aside or go on (once too often)")).toEqual(by("aside", "go on"));
  for (const label of ["", "go", "go on and on", "no nothing"]) {
    expect(() => of(label)).toThrow("is not what the table calls an event");
  }
});
