import { appendFileSync, linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeCodeSessions } from "../../../daemon/assistants/claude-code/sessions.ts";
import { SessionKeeper } from "../../../daemon/assistants/sessions/session-keeper.ts";
import { createGit } from "../../../daemon/git/run-git.ts";
import { LOCAL_ACCOUNT } from "../../../daemon/home/local-account.ts";
import { openReplica } from "../../../daemon/home/open-replica.ts";
import { parseProjectId } from "../../../shared/ids.ts";
import { silentLog } from "../../../shared/log.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { type Row, verdictOf } from "../row.ts";
import { median, ms, whole } from "../sample.ts";

const TRANSCRIPTS = 500;
const BYTES = 3_000_000;
const CHANGES = 20;
const FIRST_MS_MAX = 10_000;
const CHANGE_MS_MAX = 50;

const SAMPLE = readFileSync(
  join(import.meta.dir, "../../data/sessions/claude-code/tool-heavy.jsonl"),
  "utf8",
);

/** The transcripts of a busy month are read once; then one of them grows. */
export const sessions: Row = {
  name: "sessions",
  async run(bench) {
    const folder = await bench.folder();
    const transcripts = join(folder, "projects", "p");
    mkdirSync(transcripts, { recursive: true });
    const pathOf = (at: number) => join(transcripts, `session-${at}.jsonl`);
    const text = SAMPLE.replaceAll("/projects/spotter", folder);
    writeFileSync(pathOf(0), text.repeat(Math.ceil(BYTES / text.length)));
    // One file under many names is read as many, and does not fill the disk.
    for (let at = 1; at < TRANSCRIPTS; at++) linkSync(pathOf(0), pathOf(at));
    const growing = join(transcripts, "growing.jsonl");
    writeFileSync(growing, text);

    const projectId = parseProjectId("proj_bench") ?? fail();
    const store = await openReplica(join(folder, "memsync.db"), realWorld, { machine: "bench" });
    const keeper = new SessionKeeper({
      store,
      world: realWorld,
      log: silentLog,
      git: createGit(),
      sources: [claudeCodeSessions(folder)],
      machine: () => "bench",
      links: () => [{ dir: folder, projectId, name: "bench", write: false }],
      accountOf: () => LOCAL_ACCOUNT,
      isOn: () => true,
      offPeriod: () => undefined,
      onOffPeriodSeen: () => undefined,
      onDue: () => undefined,
    });
    const first = await timeOf(async () => {
      await keeper.start();
      await keeper.look();
    });
    const changes: number[] = [];
    for (let change = 0; change < CHANGES; change++) {
      appendFileSync(growing, text.split("\n").slice(0, 5).join("\n").concat("\n"));
      changes.push(await timeOf(() => keeper.look()));
    }
    await keeper.stop();
    await store.close();
    const later = median(changes);
    return {
      figures: [
        {
          figure: `first look ${ms(first)}`,
          target: `≤ ${ms(FIRST_MS_MAX)}`,
          verdict: verdictOf(first <= FIRST_MS_MAX),
        },
        {
          figure: `a later change p50 ${ms(later)}`,
          target: `≤ ${ms(CHANGE_MS_MAX)}`,
          verdict: verdictOf(later <= CHANGE_MS_MAX),
        },
      ],
      notes: [`${whole(TRANSCRIPTS)} transcripts of ${whole(BYTES / 1_000_000)} MB.`],
    };
  },
};

function fail(): never {
  throw new Error("no id of a project");
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
