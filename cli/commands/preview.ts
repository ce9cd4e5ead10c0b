import type { Command } from "commander";
import type { RemoteEnvironment } from "../../daemon/home/remote.ts";
import { readOddLines } from "../../daemon/ignored/odd-lines.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import { contactDaemon } from "../contact/daemon-contact.ts";
import { type DocumentPreview, type KeyChanges, previewSync } from "../local/local-preview.ts";
import { previewSources, type SourcePreview } from "../local/preview-sources.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import {
  count,
  firstLine,
  sayAside,
  sayJson,
  sayRows,
  saySentence,
  sayText,
  tableInLines,
} from "../screen/output.ts";
import { styled } from "../screen/terminal.ts";
import { oddLinesShown } from "../views/odd-ignore-lines.ts";
import { isShared, seenBy } from "../views/seen-by.ts";

const HELP = `
Compares what is on this machine with what the service was last known to have; asks no service and
sends nothing. What is held is named by \`memsync held\`, and is sent nowhere. Of each file that is
not sent, or was not read yet, a line says why. A file .memsyncignore in a project's folder names
what never leaves this machine.

Examples:
  memsync preview               what would be sent, and to which service
  memsync preview --json | jq '.[] | select(.waiting > 0)'`;

/** This many keys of each kind of change are shown to a person. */
const KEYS_SHOWN_MAX = 8;

/** `preview`: what the next sync would send. */
export function addPreviewCommand(program: Command, env: Environment): void {
  program
    .command("preview")
    .description("show what waits to be sent, project by project, and to which service")
    .option("--json", "print it as JSON")
    .addHelpText("after", HELP)
    .action((options: { readonly json?: boolean }) => preview(env, options.json === true));
}

async function preview(env: Environment, json: boolean): Promise<void> {
  const environment = await sendersEnvironment(env);
  const { previews, sources, odd } = await withLocal(env, async (db) => {
    if (!db) return { previews: [], sources: [], odd: [] };
    const found = await previewSync(db, await readRemotes(db, environment));
    return {
      previews: found,
      sources: await previewSources(env, db),
      odd: await readOddLines(db),
    };
  });
  for (const line of oddLinesShown(odd)) sayAside(line);
  const of = ({ name }: DocumentPreview) => sources.filter(({ document }) => document === name);
  if (json) {
    sayJson(previews.map((each) => ({ ...shown(each), sources: of(each).map(withoutDocument) })));
    return;
  }
  const kept = (each: DocumentPreview) => of(each).filter(({ state }) => state !== "sent");
  const changed = previews.filter(isWaiting);
  const isKept = (each: DocumentPreview) => kept(each).some(({ state }) => state !== "off");
  const told = previews.filter((each) => isWaiting(each) || isKept(each));
  for (const each of told) {
    sayText(lines(each));
    sayRows(tableInLines(kept(each).map(sourceRow)).map((row) => `  ${row}`));
  }
  if (changed.length === 0) saySentence("nothing waits to be sent");
  else if (previews.length > changed.length) saySentence("nothing else waits to be sent");
}

/** A running daemon sends to the service with which it was started. */
async function sendersEnvironment(env: Environment): Promise<RemoteEnvironment> {
  const daemon = await contactDaemon(env.home);
  if (!daemon) return remoteEnvironment(env);
  const { url } = daemon.introduction.environment;
  return remoteEnvironment({ ...env, serviceUrl: url ?? undefined });
}

function withoutDocument({ document: _, ...source }: SourcePreview) {
  return source;
}

function sourceRow({ path, state, note }: SourcePreview): string[] {
  const said = note === null || state === "ignored" ? "" : `: ${note}`;
  return [path, `${SOURCE_STATES[state]}${said}`];
}

const SOURCE_STATES: Readonly<Record<SourcePreview["state"], string>> = {
  sent: "sent",
  new: "not read yet",
  ignored: "ignored, stays here",
  held: "held",
  "left-alone": "not sent",
  off: "not read",
};

function isWaiting({ waiting, held, changes, sessions }: DocumentPreview): boolean {
  if (waiting > 0 || held > 0 || sessions.length > 0) return true;
  return changes !== undefined && sentences(changes).length > 0;
}

function lines(preview: DocumentPreview): string[] {
  const { title, service, audience, contacted, changes, waiting, held, sessions } = preview;
  const to = service === undefined ? "linked to no folder: nothing of it is sent" : `to ${service}`;
  const seen = isShared(audience) ? `, seen by ${seenBy(audience)}` : "";
  const first = service !== undefined && !contacted ? ", which has not answered for it yet" : "";
  const said = changes
    ? sentences(changes)
    : [`${count(waiting, "change", "changes")}, some of them too long ago to be told apart`];
  const own = waiting > 0 ? ["nothing that is shown, but bookkeeping of merges"] : [];
  return [
    `${styled("bold", firstLine(title))}   ${to}${seen}${first}`,
    ...[...(said.length > 0 ? said : own), ...sessionSentence(sessions)].map((line) => `  ${line}`),
    ...(held > 0 ? [`  not sent: ${held} held, see \`memsync held\``] : []),
  ];
}

function sessionSentence(sessions: DocumentPreview["sessions"]): string[] {
  if (sessions.length === 0) return [];
  const titles = sessions.map(({ id, title }) => title ?? id);
  return [`${count(sessions.length, "session", "sessions")}: ${named(titles)}`];
}

function sentences({ memories, metadata, lines }: NonNullable<DocumentPreview["changes"]>) {
  const { added, removed } = lines;
  return [
    ...keySentences(memories, "memory", "memories"),
    ...(added + removed > 0 ? [`document: +${added} -${removed} lines`] : []),
    ...keySentences(metadata, "metadata key", "metadata keys"),
  ];
}

function keySentences({ added, changed, deleted }: KeyChanges, one: string, many: string) {
  const sentence = (keys: readonly string[], what: string) =>
    keys.length === 0 ? [] : [`${count(keys.length, one, many)} ${what}: ${named(keys)}`];
  return [
    ...sentence(added, "new"),
    ...sentence(changed, "changed"),
    ...sentence(deleted, "deleted"),
  ];
}

function named(keys: readonly string[]): string {
  const first = keys.slice(0, KEYS_SHOWN_MAX).map(firstLine).join(", ");
  return keys.length > KEYS_SHOWN_MAX ? `${first} and ${keys.length - KEYS_SHOWN_MAX} more` : first;
}

function shown({ name, layer, title, service, ...rest }: DocumentPreview) {
  const { changes, contacted, waiting, held, sessions } = rest;
  return {
    layer,
    project_id: layer === "project" ? name : null,
    project: layer === "project" ? title : null,
    service: service ?? null,
    contacted,
    waiting,
    held,
    sessions,
    memories: changes?.memories ?? null,
    metadata: changes?.metadata ?? null,
    document: changes
      ? { lines_added: changes.lines.added, lines_removed: changes.lines.removed }
      : null,
  };
}
