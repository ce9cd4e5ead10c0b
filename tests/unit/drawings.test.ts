import { expect, test } from "bun:test";
import { arrowsIn, readArrows } from "../support/drawn-arrows.ts";
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

/** The arrows of a table, but for those that lead from a state to itself. */
async function arrowsOfTable({ page, corner, told, never }: Machine) {
  const table = await readTransitions(page, corner);
  const states = new Set([...table.keys()].map((key) => key.split(" ")[0] ?? ""));
  const arrows = [...table].flatMap(([key, cell]) => {
    const from = key.split(" ")[0] ?? "";
    const to = cell.split(" or ").filter((each) => each !== from);
    return told.includes(from)
      ? []
      : to.filter((each) => !told.includes(each)).map((each) => `${from} → ${each}`);
  });
  const drawn = [...new Set(arrows)].filter((each) => !never.includes(each)).sort();
  return { states: [...states], arrows: drawn };
}

test.each([...MACHINES])("the drawing of $file has the arrows of its table", async (machine) => {
  const { states, arrows } = await arrowsOfTable(machine);
  expect(arrows).not.toEqual([]);
  expect(await readArrows(machine.file, states)).toEqual(arrows);
});

test("an arrow is read around corners, from several states, and both ways", () => {
  const drawing = [
    "          go             no ",
    "  here ───────▶ there ◀─────▶ gone",
    "   ▲ │ back       │  aside     │",
    "   │ └─▶ here     └─────┬──────┘",
    "   └────────────────────┘     there",
  ];
  expect(arrowsIn(drawing, ["here", "there", "gone"])).toEqual([
    "gone → here",
    "gone → there",
    "here → here",
    "here → there",
    "there → gone",
    "there → here",
  ]);
});
