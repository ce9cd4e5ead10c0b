/** What this program is given, as JSON. */
export interface FillAsked {
  readonly urls: readonly string[];
  readonly tokens: readonly string[];
  /** Projects from this number on, up to that one. */
  readonly from: number;
  readonly to: number;
  /** No more are begun then. */
  readonly withinMs: number;
}

export interface Filled {
  readonly reached: number;
}

const WORDS = "the importer reads each file once. ".repeat(4);
const AT_ONCE = 32;
const MEMORIES = 20;

/** The account of a project: a few have most of them (Zipf), and each of a number the same one. */
function accountOf(project: number, accounts: number): number {
  const spread = (project * 0.618_033_988_75) % 1;
  return Math.min(accounts - 1, Math.floor(accounts ** spread) - 1);
}

const asked = JSON.parse(process.argv[2] ?? "{}") as FillAsked;
const until = performance.now() + asked.withinMs;
let next = asked.from;
await Promise.all(Array.from({ length: AT_ONCE }, fill));
process.stdout.write(`${JSON.stringify({ reached: next } satisfies Filled)}\n`);

async function fill(): Promise<void> {
  while (next < asked.to && performance.now() < until) {
    const project = next;
    next += 1;
    const token = asked.tokens[accountOf(project, asked.tokens.length)];
    const memories = Array.from({ length: MEMORIES }, (_, at) => ({
      key: `note-${at}`,
      value: `Decision ${at} of project ${project}: ${WORDS}`,
    }));
    const claude = `# Project ${project}\n\n${"- Tag first, then publish.\n".repeat(80)}`;
    const url = `${asked.urls[project % asked.urls.length]}/v1/projects/proj_${project}/sync`;
    const answer = await fetch(url, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ claude_md_content: claude, memories }),
    });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    await answer.body?.cancel();
  }
}
