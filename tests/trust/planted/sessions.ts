import { type Mistake, mistakesIn } from "./mistake.ts";

const kept = mistakesIn(
  "daemon/assistants/sessions/session-keeper.ts",
  "unit/session-keeper.test.ts",
);
const openCode = mistakesIn(
  "daemon/assistants/opencode/session-rows.ts",
  "unit/transcripts.test.ts",
);
const leaving = mistakesIn("daemon/held/leaving-sessions.ts", "unit/session-sending.test.ts");
const sent = mistakesIn("daemon/sync/session-sending.ts", "unit/session-sending.test.ts");
const setBack = mistakesIn("daemon/sync/incoming.ts", "unit/batch-rounds.test.ts");

/** In the records of assistants' sessions. */
export const SESSIONS: readonly Mistake[] = [
  kept(
    "what goes on in an unlinked folder is recorded",
    "what goes on in a folder that was unlinked is not recorded, and its record stays",
    "this.#isLinked(former) ? former :",
    "former !== undefined ? former :",
  ),
  leaving(
    "a title that looks like a secret is sent",
    "what is private in a record stays, whoever wrote it, and the rest is sent",
    "title: (await judge.isPrivate(title)) ? null : title,",
    "title,",
  ),
  kept(
    "transcripts are read though sessions are off",
    "nothing is read while it is off, nor recorded of then once it is on",
    "if (options.isOn()) await this.#look();",
    "await this.#look();",
  ),
  kept(
    "a session that goes on is sent at once",
    "an old session is to be sent at once, one that goes on when it rests or after ten minutes",
    "const isDue = (rests && !isTold) ||",
    "const isDue = !isTold ||",
  ),
  kept(
    "a session that goes on again has ended all the same",
    "a session's record says when a session ended, until it goes on",
    "return end !== null && end >= last_activity_at ? end : null;",
    "return end;",
  ),
  openCode(
    "a prompt that OpenCode took for a title is recorded",
    "a title of OpenCode's that is a prompt, or stands for none, is none",
    "return said.some(",
    "return [].some(",
  ),
  sent(
    "documents wait for records that a service refuses",
    "a service that refuses records gets the documents without them, and is not asked again",
    "const outcome = said === undefined ? together : await service.exchange(project, { documents });",
    "const outcome = together;",
  ),
  sent(
    "records that a call did not bring count as sent",
    "a record that a call did not bring stays to be sent",
    'if (outcome.kind !== "answered" || outcome.value === "plain") return outcome;\n  if (said === undefined) await',
    "if (said === undefined) await",
  ),
  sent(
    "all records of a call are lost by one that the service refuses",
    "one record that the service refuses keeps no other from it, and is named",
    "if (next.sessions.length === 1) await",
    "if (next.sessions.length > 0) await",
  ),
  setBack(
    "a service that was set back stays without its records",
    "a service that was set back gets the records of all projects anew",
    "await forgetSentSessions(db, open.address.owner);",
    "",
  ),
  sent(
    "records are sent though sessions are off",
    "nothing is sent while sessions are off",
    "kept } = sendsSessions()\n",
    "kept } = sendsSessions\n",
  ),
];
