import { homedir } from "node:os";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import { messageOf } from "../../shared/errors.ts";
import type { Environment } from "../place/environment.ts";
import { count } from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { type Assistant, assistantsFor, type SettingsFile } from "../setup/assistant.ts";
import { MEND_PATH, NOT_ON_PATH } from "../setup/on-path.ts";
import { isInUse } from "../setup/set-up.ts";
import { completed, readSettingsFile, type SettingsRead } from "../setup/settings-file.ts";
import { parseSettings, valueAt } from "../setup/settings-text.ts";
import { type Finding, noted } from "./finding.ts";

/** Which assistants have the memories, and what keeps them from it. */
export function checkAssistants({ variables }: Environment): Finding[] {
  const around = { userFolder: homedir(), platform: process.platform, variables };
  const used = assistantsFor(around).filter(isInUse);
  const all = used.map((assistant) => ({ assistant, ...lookAt(assistant) }));
  const whole = all.filter(({ has, lacks }) => has.length > 0 && lacks.length === 0);
  const findings = all.flatMap(({ assistant, ...seen }) => findingsOf(assistant, seen));
  const isSetUp = all.some(({ has }) => has.length > 0);
  if (isSetUp && Bun.which("memsync") === null) {
    findings.unshift(noted("assistants-no-program", NOT_ON_PATH, MEND_PATH));
  }
  const wholeNames = whole.map(({ assistant }) => assistant.name).join(", ");
  if (findings.length > 0) {
    return wholeNames === ""
      ? findings
      : [...findings, noted("assistants-set-up", `set up in ${wholeNames}`)];
  }
  if (used.length === 0)
    return [noted("assistants-none", "none that could be set up is in use here")];
  const others = all.filter(({ has }) => has.length === 0).map(({ assistant }) => assistant.name);
  const done = whole.length > 0 ? [`set up in ${wholeNames}`] : [];
  const open = others.length > 0 ? [`\`memsync setup\` can: ${others.join(", ")}`] : [];
  return [noted("assistants-could-be", [...done, ...open].join("; "))];
}

interface Seen {
  /** Paths of settings with an entry of ours or one that does the same. */
  readonly has: readonly string[];
  readonly lacks: readonly string[];
  readonly unread: readonly (readonly [path: string, why: string])[];
}

function lookAt({ files }: Assistant): Seen {
  const has: string[] = [];
  const lacks: string[] = [];
  // By path, for two things that are set up may be in one file.
  const unread = new Map<string, string>();
  for (const file of files) {
    const read = readSettingsFile(file, files);
    const why = read.kind === "unreadable" ? read.why : whyNoRoom(file, read);
    if (why !== undefined) unread.set(file.path, why);
    if (read.kind === "unreadable") continue;
    if (read.present.length + read.other.length > 0) has.push(file.path);
    if (read.absent.length > 0 && why === undefined) lacks.push(file.path);
  }
  return { has, lacks, unread: [...unread] };
}

/** Why setup could not put in what a file lacks; undefined: it could. */
function whyNoRoom(
  file: SettingsFile,
  { text = "", absent }: Extract<SettingsRead, { kind: "read" }>,
): string | undefined {
  try {
    completed(file, text, absent);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function findingsOf(assistant: Assistant, { has, lacks, unread }: Seen): Finding[] {
  const setup = `\`memsync setup ${assistant.id}\``;
  const findings = unread.map(([path, why]) =>
    noted(
      "assistants-unread",
      `${tilde(path)} of ${assistant.name}: ${why}`,
      `mend the file, then ${setup}`,
    ),
  );
  if (has.length === 0) return findings;
  if (lacks.length > 0) {
    const where = lacks.map(tilde).join(", ");
    findings.push(
      noted("assistants-lack", `${assistant.name} lacks what belongs in ${where}`, setup),
    );
  }
  return [...findings, ...checkCodexMemories(assistant)];
}

/** Codex can keep out of its own memories whatever used a tool of somebody else. */
function checkCodexMemories({ id, files }: Assistant): Finding[] {
  const file = files.find(({ syntax }) => syntax === "toml");
  const read = id === "codex" && file ? readSettingsFile(file) : undefined;
  if (read?.kind !== "read" || read.text === undefined) return [];
  const memories = valueAt(parseSettings(read.text, "toml"), ["memories"]);
  if (valueAt(memories, ["disable_on_external_context"]) !== true) return [];
  const detail =
    "Codex keeps sessions that used `memsync mcp` out of its own memories " +
    "(memories.disable_on_external_context)";
  const mend = "set it to false, or go by the hooks alone: `codex mcp remove memsync`";
  return [noted("assistants-codex-keeps-out", detail, mend)];
}

/** Which files have the user's own text, and what is asked about them. */
export function checkPersonal({ personal }: DaemonStatus): Finding[] {
  const { files, merges } = personal;
  if (files.length === 0)
    return [noted("personal-off", "in no file: `memsync personal on` puts it in")];
  const findings = files.flatMap(({ path, state, note }) => {
    if (state !== "asked" && state !== "left-alone") return [];
    return [
      noted("personal-asked", `${tilde(path)} ${note ?? state}`, "`memsync personal` shows all"),
    ];
  });
  if (merges.length > 0) {
    const mend = "`memsync personal` shows it; edit any of the files";
    findings.push(
      noted("personal-merged", "it has both versions of what was written at once", mend),
    );
  }
  if (findings.length > 0) return findings;
  return [noted("personal-same-everywhere", `the same in ${count(files.length, "file", "files")}`)];
}
