import { splitForm } from "../../shared/replica/text/text-form.ts";
import { type Fork, readForks, readHistories } from "./merge-data.ts";
import { GitMerge } from "./merge-git.ts";
import { isAsGit, judge, linesOf } from "./merge-judge.ts";
import { mergeInOrder, mergeOnTwoMachines } from "./merge-replicas.ts";

/** Counts over many forks. Lines are those of the merged texts. */
export interface MergeReport {
  readonly pairs: number;
  /** Pairs that git merges without a conflict, and how many come out as git's text; `isAsGit`. */
  readonly clean: number;
  readonly asGit: number;
  readonly lines: number;
  readonly lost: number;
  readonly invented: number;
  readonly doubled: number;
  readonly torn: number;
  readonly runs: number;
  readonly runsInOrder: number;
  /** Pairs that a second clean-up changed. */
  readonly unsettled: number;
  /** Pairs that came out differently when the other machine cleaned up. */
  readonly lopsided: number;
  /** What went wrong, for people: one line each. */
  readonly remarks: readonly string[];
}

/** Counts over all orders in which three edits of one base can arrive. */
export interface OrderReport {
  readonly triples: number;
  /** Triples with the same text whatever the order. In each order all replicas have one text. */
  readonly oneText: number;
  /** Triples that git merges without a conflict in every order, always to the same text. */
  readonly clean: number;
  /** Of those, the ones with that text in every order. */
  readonly asGit: number;
}

/** As the daemon keeps a file in the document: every line ends with a line break. */
export function asKept({ name, base, ours, theirs }: Fork): Fork {
  const [b = "", o = "", t = ""] = [base, ours, theirs].map((text) => splitForm(text).lines);
  return { name, base: b, ours: o, theirs: t };
}

/** Merges each fork on two machines, in both roles, and judges the outcome. */
export function measurePairs(forks: readonly Fork[]): MergeReport {
  using git = new GitMerge();
  const found = forks.map((fork) => measuredOnce(fork, git));
  const sum = (count: (one: (typeof found)[number]) => number | boolean) =>
    found.reduce((total, one) => total + Number(count(one)), 0);
  return {
    pairs: found.length,
    clean: sum((one) => one.clean),
    asGit: sum((one) => one.asGit),
    lines: sum((one) => one.lines),
    lost: sum((one) => one.lost.length),
    invented: sum((one) => one.invented.length),
    doubled: sum((one) => one.doubled.length),
    torn: sum((one) => one.torn.length),
    runs: sum((one) => one.runs),
    runsInOrder: sum((one) => one.runsInOrder),
    unsettled: sum((one) => one.unsettled),
    lopsided: sum((one) => one.lopsided),
    remarks: found.flatMap((one) => one.remarks),
  };
}

/** By the fork: most texts already are as the daemon keeps them, and come to the same twice. */
const measured = new Map<string, ReturnType<typeof measurePair>>();

function measuredOnce(fork: Fork, git: GitMerge) {
  const { name, base, ours, theirs } = fork;
  const key = JSON.stringify([name, base, ours, theirs]);
  const found = measured.get(key) ?? measurePair(fork, git.merge(fork));
  measured.set(key, found);
  return found;
}

function measurePair(fork: Fork, gitText: string | undefined) {
  const merged = mergeOnTwoMachines(fork);
  const cleanedByOther = mergeOnTwoMachines(fork, [11, 22], [1, 0]);
  const verdict = judge(fork, merged.text, gitText);
  const clean = gitText !== undefined;
  const versions = [fork.base, fork.ours, fork.theirs];
  const asGit = gitText !== undefined && isAsGit(versions, merged.text, gitText);
  const flaws = { lost: verdict.lost, invented: verdict.invented, torn: verdict.torn };
  const remarks = Object.entries({ ...flaws, doubled: verdict.doubled })
    .filter(([, lines]) => lines.length > 0)
    .map(([flaw, lines]) => `${fork.name}: ${lines.length} ${flaw}, ${JSON.stringify(lines[0])}`);
  if (clean && !asGit) remarks.push(`${fork.name}: not as git`);
  return {
    ...verdict,
    clean,
    asGit,
    lines: linesOf(merged.text).length,
    unsettled: merged.textCleanedAgain !== merged.text,
    lopsided: cleanedByOther.text !== merged.text,
    remarks,
  };
}

const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
];

/** Three machines make the three versions after a base at the same time, in every order. */
export function measureOrders(): OrderReport {
  using git = new GitMerge();
  const report = { triples: 0, oneText: 0, clean: 0, asGit: 0 };
  for (const { versions } of readHistories()) {
    const kept = versions.map((version) => splitForm(version).lines);
    for (let i = 0; i + 3 < kept.length; i++) {
      const [base = "", ...edits] = kept.slice(i, i + 4);
      const texts = new Set(ORDERS.map((order) => mergeInOrder(base, edits, order)));
      const gitTexts = new Set(ORDERS.map((order) => mergeAllWithGit(git, base, edits, order)));
      const [gitText] = gitTexts;
      const clean = gitTexts.size === 1 && gitText !== undefined;
      report.triples++;
      if (texts.size === 1) report.oneText++;
      if (clean) report.clean++;
      const isGits = (text: string) => isAsGit([base, ...edits], text, gitText ?? "");
      if (clean && texts.size === 1 && [...texts].every(isGits)) report.asGit++;
    }
  }
  return report;
}

function mergeAllWithGit(
  git: GitMerge,
  base: string,
  edits: readonly string[],
  order: readonly number[],
): string | undefined {
  const [first = "", ...rest] = order.map((i) => edits[i] as string);
  return rest.reduce<string | undefined>(
    (ours, theirs) => (ours === undefined ? undefined : git.merge({ base, ours, theirs })),
    first,
  );
}

/** The table that a run prints. */
export function formatReport(name: string, report: MergeReport): string {
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(3)} %`;
  const rows = [
    ["pairs", report.pairs],
    ["merged cleanly by git", report.clean],
    ["of these as git", `${report.asGit} (${percent(report.asGit, report.clean)})`],
    ["lines lost", report.lost],
    ["lines nobody wrote", report.invented],
    ["lines doubled", `${report.doubled} (${percent(report.doubled, report.lines)})`],
    ["inserted code blocks torn", report.torn],
    ["inserted runs in their order", `${report.runsInOrder} of ${report.runs}`],
    ["changed by a second clean-up", report.unsettled],
    ["changed by who cleans up", report.lopsided],
  ];
  return [name, ...rows.map(([title, value]) => `  ${`${title}`.padEnd(30)} ${value}`)].join("\n");
}

/** The command `merge`: prints the table. Resolves to the exit status: 1 when a line is lost. */
export function merge(): number {
  const raw = measurePairs(readForks());
  const kept = measurePairs(readForks().map(asKept));
  const orders = measureOrders();
  const lines = [
    formatReport("as the daemon keeps them: every line has its line break", kept),
    ...kept.remarks.map((remark) => `  - ${remark}`),
    formatReport("as they are: some last lines have none", raw),
    ...raw.remarks.map((remark) => `  - ${remark}`),
    "three machines, six orders; in each order all replicas have one text",
    ...Object.entries(orders).map(([title, count]) => `  ${title.padEnd(30)} ${count}`),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  return [kept, raw].some(({ lost, invented }) => lost + invented > 0) ? 1 : 0;
}
