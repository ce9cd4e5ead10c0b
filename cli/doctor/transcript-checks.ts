import { existsSync } from "node:fs";
import { homedir } from "node:os";
import type { Kysely } from "kysely";
import { assistantsOf } from "../../daemon/assistants/sessions/assistants.ts";
import { FolderProjects } from "../../daemon/assistants/sessions/project-of-folder.ts";
import { leavingSoon, type Retention } from "../../daemon/assistants/transcripts/retention.ts";
import type { SessionFacts } from "../../daemon/assistants/transcripts/session-facts.ts";
import type { SessionSource } from "../../daemon/assistants/transcripts/session-source.ts";
import type { TranscriptFile } from "../../daemon/assistants/transcripts/transcript-file.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { type Link, listLinks } from "../../daemon/home/links.ts";
import {
  listTranscripts,
  type RefusedSession,
  refusedSessions,
  type TranscriptRow,
} from "../../daemon/home/session-records.ts";
import { recordsSessions } from "../../daemon/home/session-switch.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { count } from "../../shared/count.ts";
import { parseStored } from "../../shared/json.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { tilde } from "../screen/tilde.ts";
import { type Finding, noted } from "./finding.ts";

/** At most this many folders are named. */
const FOLDERS_MAX = 3;

/** What the home knows of transcripts. */
interface Known {
  readonly links: readonly Link[];
  readonly rows: ReadonlyMap<string, TranscriptRow>;
  readonly refused: readonly RefusedSession[];
}

/**
 * Whether an assistant is about to delete transcripts of which there is no record, and whether a
 * service lacks a record because it would not take it.
 */
export async function checkTranscripts(env: Environment): Promise<Finding[]> {
  if (!recordsSessions(env.home))
    return [noted("sessions-not-recorded", "not recorded: `memsync sessions on`")];
  const known = await withLocal(env, readKnown).catch(() => undefined);
  // What is wrong with the database is a finding of its own.
  if (known === undefined) return [];
  const findings: Finding[] = refusedFindings(known);
  let isAny = false;
  for (const source of assistantsOf(homedir(), env.variables)) {
    const retention = await source.retention?.();
    const files = retention ? await source.list() : [];
    isAny ||= files.length > 0;
    if (retention) findings.push(...(await findingsAbout({ source, retention, files }, known)));
  }
  if (findings.length > 0 || !isAny) return findings;
  return [noted("sessions-safe", "no transcript that is deleted soon lacks its record")];
}

function refusedFindings({ refused }: Known): Finding[] {
  const [first] = refused;
  if (first?.said === undefined) return [];
  const what = count(refused.length, "session's record", "sessions' records");
  const detail = `a service refuses ${what}: ${first.id}: ${first.said}`;
  const mend = "give the session another title: its record is then sent again";
  return [noted("sessions-refused", detail, mend)];
}

async function readKnown(db: Kysely<DaemonTables> | undefined): Promise<Known> {
  const rows = db ? await listTranscripts(db) : [];
  const links = db ? await listLinks(db) : [];
  const lacking = db ? await refusedSessions(db) : [];
  const refused = lacking.filter(({ said }) => said !== undefined);
  return { links, rows: new Map(rows.map((row) => [row.path, row])), refused };
}

interface Deleted {
  readonly source: SessionSource;
  readonly retention: Retention;
  readonly files: readonly TranscriptFile[];
}

async function findingsAbout(
  { source, retention, files }: Deleted,
  { links, rows }: Known,
): Promise<Finding[]> {
  const leaving = leavingSoon(files, retention, realWorld.now());
  const unread = leaving.filter(({ path }) => !rows.has(path));
  const folders = await unlinkedFolders(
    leaving.flatMap(({ path }) => rows.get(path) ?? []),
    links,
  );
  const soon = `${source.name} soon deletes`;
  const findings: Finding[] = [];
  if (unread.length > 0) {
    const what = count(unread.length, "transcript that was", "transcripts that were");
    const detail = `${soon} ${what} never read (${retention.setting})`;
    findings.push(
      noted("sessions-unread", detail, "`memsync start` reads them and keeps their records"),
    );
  }
  if (folders.length > 0) {
    const what = count(folders.length, "transcript", "transcripts");
    const where = `of folders that are not linked${named(folders)}`;
    const detail = `${soon} ${what} ${where} (${retention.setting})`;
    const mend = `\`memsync link DIR\` has their records kept; or raise ${retention.setting}`;
    findings.push(noted("sessions-unlinked", detail, mend));
  }
  return findings;
}

/** For each session without a project whose folder nobody linked, its folder. */
async function unlinkedFolders(
  rows: readonly TranscriptRow[],
  links: readonly Link[],
): Promise<string[]> {
  const projects = new FolderProjects(createGit());
  const linked = new Map<string, boolean>();
  const found: string[] = [];
  for (const { cwd, project, state } of rows) {
    if (project !== undefined || cwd === undefined || !isSession(state)) continue;
    // A session in a linked folder has no project because `.memsyncignore` names it, or because it
    // is about to be recorded.
    const isLinked = linked.get(cwd) ?? (await projects.find(cwd, links)) !== undefined;
    linked.set(cwd, isLinked);
    if (!isLinked) found.push(cwd);
  }
  return found;
}

/** Sub-agents, and sessions in which nobody said anything, have no records. */
function isSession(state: string): boolean {
  const { facts } = parseStored<{ readonly facts: SessionFacts }>(state);
  return facts.messages > 0 && facts.isPart !== true;
}

/** The folders with most transcripts, if they still exist. */
function named(folders: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const folder of folders) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  const there = [...counts].filter(([folder]) => existsSync(folder));
  there.sort(([, one], [, other]) => other - one);
  const shown = there.slice(0, FOLDERS_MAX).map(([folder, many]) => `${tilde(folder)} (${many})`);
  return shown.length === 0 ? "" : `: ${shown.join(", ")}${there.length > FOLDERS_MAX ? " …" : ""}`;
}
