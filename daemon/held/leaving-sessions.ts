import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { ReasonCode } from "../../shared/reasons.ts";
import type { Session, SessionUpload } from "../../shared/wire/session.ts";
import { type UnsentSession, unsentSessions } from "../home/session-records.ts";
import type { DaemonTables } from "../home/tables.ts";
import { saysALot } from "../home/text-line.ts";
import { textReason } from "./judge.ts";

type Db = Kysely<DaemonTables>;

/** What there is to be sent of a project's sessions. */
export interface LeavingSessions {
  /** Each without what is private in it. */
  readonly leaving: readonly UnsentSession[];
  /** Those that have no name left by which they could be sent. */
  readonly kept: readonly UnsentSession[];
}

/**
 * The unsent records of a project as they may be sent, whoever wrote them: an assistant's
 * transcript, or a program by the gateway. Reads alone; at most as many as one call takes.
 */
export async function leavingSessions(
  db: Db,
  account: AccountId,
  project: ProjectId,
): Promise<LeavingSessions> {
  const judge = judgeOf(db, project);
  const leaving: UnsentSession[] = [];
  const kept: UnsentSession[] = [];
  for (const unsent of await unsentSessions(db, account, project)) {
    const { id, source } = unsent.upload;
    // A name is found in an id by what stands around it, and the form of ids is ours.
    const isNamed =
      (await judge.isPrivateName(id.slice("sess_".length))) || (await judge.isPrivateName(source));
    if (isNamed) kept.push(unsent);
    else leaving.push({ ...unsent, upload: await without(judge, unsent.upload) });
  }
  return { leaving, kept };
}

/**
 * What somebody else gave a name to is left out where it looks like a secret, or is of one's own
 * text: it is no write that could wait for a yes, and the session's record has a use without it.
 */
export async function withoutPrivate(db: Db, session: Session): Promise<Session> {
  return await without(judgeOf(db, session.project_id), session);
}

interface Judge {
  isPrivate(text: string | null): Promise<boolean>;
  /** The same of a name: a line of one's own that says little may be anybody's name. */
  isPrivateName(text: string | null): Promise<boolean>;
}

async function without<Each extends SessionUpload>(judge: Judge, session: Each): Promise<Each> {
  const { title, model, git_branch, machine } = session;
  const unlessName = async (text: string | null) =>
    (await judge.isPrivateName(text)) ? null : text;
  return {
    ...session,
    title: (await judge.isPrivate(title)) ? null : title,
    model: await unlessName(model),
    git_branch: await unlessName(git_branch),
    machine: await unlessName(machine),
  };
}

/** Models, branches and machines are the same in many records, and judged once. */
function judgeOf(db: Db, project: ProjectId | null): Judge {
  const document = project ?? "global";
  const judged = new Map<string, ReasonCode | "none">();
  const codeOf = async (text: string | null) => {
    if (text === null) return "none";
    const known = judged.get(text);
    if (known !== undefined) return known;
    const code = (await textReason(db, text, { document, already: [] }))?.code ?? "none";
    judged.set(text, code);
    return code;
  };
  return {
    async isPrivate(text) {
      return (await codeOf(text)) !== "none";
    },
    async isPrivateName(text) {
      const code = await codeOf(text);
      return code !== "none" && (code !== "personal-lines" || saysALot(text ?? ""));
    },
  };
}
