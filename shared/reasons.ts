// Every reason that memsync gives, as a code with its sentence and advice.
// Codes are stored, compared and printed with `--json`, and no sentence is.

import { ALSO_REASONS } from "./also-reasons.ts";
import { CALL_REASONS } from "./call-reasons.ts";
import { count } from "./count.ts";
import { GIT_REASONS } from "./git-reasons.ts";
import { IGNORED_REASONS } from "./ignored-reasons.ts";
import { equalJson, type JsonValue } from "./json.ts";
import { LIMITS } from "./limits.ts";
import { LINK_REASONS } from "./link-reasons.ts";
import { MEMORY_REASONS } from "./memory-reasons.ts";
import { PERSONAL_REASONS, sayPersonalLines } from "./personal-reasons.ts";
import { REPOSITORY_REASONS } from "./repository-reasons.ts";
import { shellWord } from "./shell-word.ts";

/** What another program said, in its words. */
interface Said {
  readonly said: string;
}

/** Records of sessions that a service would not take. */
interface RefusedSessions extends Said {
  readonly ids: readonly string[];
}

/** At most this many refused sessions are named. */
const SESSIONS_NAMED_MAX = 3;

/** Connected projects that are on other machines alone. */
interface ConnectedElsewhere {
  readonly projects: readonly string[];
}

/** At most this many connected projects are named. */
const CONNECTED_NAMED_MAX = 3;

/** What a rule found in a text. */
interface LooksLikeSecret {
  /** The rule's id. */
  readonly rule: string;
  /** The rule's name for it. Stored with the id, because a later version may have other rules. */
  readonly like: string;
  /** Null where the text is one line. */
  readonly line: number | null;
  /** How many further findings are in the same text. */
  readonly more: number;
  /** It is in a memory's key and not in its value. */
  readonly inKey: boolean;
  /** The numbers of the lines that are of one's own text; see `personal-lines`. */
  readonly personal?: readonly number[];
}

/** The branch that is checked out, if it has a name, and the one that is followed, if any. */
interface OtherBranch {
  readonly branch?: string;
  readonly isDetached: boolean;
  readonly followed?: string;
}

/** Another home of this machine's name. */
interface NameTwice {
  /** When it last wrote, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Where this home's name is. */
  readonly file: string;
}

/** What the project's document says of a file that is missing. */
interface Missing {
  /** Null: no text. Left out: unknown. */
  readonly lines?: number | null;
}

const MAKING = {
  locked: "is not made while git is at work",
  "at-work": "is not made while git is at work",
  changed: "is made once git has been quiet for a moment",
  "not-checked-out": "is not made before git has checked something out here",
  "no-commit": "is not made before there is a commit here: one may be on its way from a remote",
  unknown: "is not made, for git could not say what it does",
} as const;

const NOT_KEPT = {
  owner: "owner",
  links: "hard links",
  attributes: "extended attributes",
} as const;

/**
 * What a write could not preserve of a file. `owner`: its owner or group. `links`: its other names.
 * `attributes`: an access list or other extended attributes.
 */
export type NotKept = keyof typeof NOT_KEPT;

const WAYS_ON =
  "`memsync doc write` gets it back, `memsync doc clear` deletes the text on every machine";

/** Facts about a folder that is not at its path. */
interface GoneFolder {
  readonly dir: string;
  /** Something else is there. */
  readonly isReplaced: boolean;
}

/** A code's meaning, and its sentence. */
interface Entry {
  /** For the list of codes in docs/codes.md. */
  readonly meaning: string;
  /** In words that follow the name of the thing. */
  say(facts: never): string;
  /** What to do, if there is anything. */
  advise?(facts: never): string;
}

/**
 * The registry: every reason to hold a write, to refuse a document or not to follow a file, and
 * what else is said about a linked folder.
 */
export const REASONS = {
  "token-forbids": {
    meaning: "the service does not let this token write the document",
    say: () => "the token may not write it, or does not reach it",
    advise: () => "give `memsync login`, or MEMSYNC_TOKEN, one that may",
  },
  "out-of-reach": {
    meaning: "the token is bound to projects, so it does not reach `user` and `global`",
    say: () => "the token reaches only the projects that it is bound to",
    advise: () => "`memsync login`, or MEMSYNC_TOKEN, with one of the whole account sends them",
  },
  "call-forbidden": {
    meaning: "the service answered a call about the project with 403",
    say: ({ said }: Said) => said,
    advise: () =>
      "give `memsync login`, or MEMSYNC_TOKEN, a token that may write it, or `memsync unlink` " +
      "its folder; all else goes on",
  },
  "call-refused": {
    meaning: "the service refused a call about the project",
    say: ({ said }: Said) => said,
    advise: () => "it is tried again, and all else goes on",
  },
  "service-refused": {
    meaning: "the service would not take a document, or an item of it",
    say: ({ said }: Said) => said,
  },
  "update-gap": {
    meaning: "an update of the service's needs another one that never came",
    say: () => "the service's update builds on what is lacking here",
  },
  "update-unacceptable": {
    meaning: "an update of the service's breaks a rule of the document",
    say: ({ said }: Said) => `the service's update is not acceptable: ${said}`,
  },
  "begins-as-personal": {
    meaning: "a memory begins as the personal text does, at a service that keeps no keys",
    say: () =>
      "it begins as the personal text does, and where a service keeps no keys others would take " +
      "it for that",
    advise: () => "leave out its first line; until then it stays on this machine",
  },
  untakable: {
    meaning: "what a published-only service holds is over a limit here",
    say: () => "what it holds is too large, or no text, and stays there as it is",
  },
  "no-id": {
    meaning: "a published-only service named no id, by which a memory is deleted",
    say: () => "its deletion can't be sent: the service gives no id for it",
  },
  "deletion-refused": {
    meaning: "a published-only service would not delete a memory",
    say: ({ said }: Said) => `its deletion is refused: ${said}`,
  },
  "data-lost": {
    meaning: "a published-only service had lost data, which was uploaded again",
    say: ({ at }: { readonly at: string }) =>
      `the service had lost data at ${at}; what is here was uploaded again`,
  },
  "more-refused": {
    meaning: "a published-only service refuses more than is listed",
    say: ({ more }: { readonly more: number }) => `${more} more are refused`,
  },
  "sessions-refused": {
    meaning: "the service would not take records of sessions, which other machines so lack",
    say: ({ ids, said }: RefusedSessions) => {
      const named = ids.slice(0, SESSIONS_NAMED_MAX).join(", ");
      const more = ids.length > SESSIONS_NAMED_MAX ? ", …" : "";
      const what = count(ids.length, "session's record", "sessions' records");
      return `the service refuses ${what} (${named}${more}): ${said}`;
    },
    advise: () => "each is sent again when its session goes on or gets another title",
  },
  "sessions-private": {
    meaning: "records of sessions are named by what is private, and not sent",
    say: ({ kept }: { readonly kept: number }) =>
      `${count(kept, "session's record stays", "sessions' records stay")} on this machine: ` +
      "the id or the assistant's name looks like a secret, or is a line of your own text",
  },
  "looks-like-secret": {
    meaning: "a write looks like a secret and is held",
    say: ({ like, line, more, inKey, personal }: LooksLikeSecret) => {
      const place = line === null ? "" : ` in line ${line}`;
      const others = more > 0 ? `, and ${more} more` : "";
      const own = personal ? `, and ${sayPersonalLines(personal)}` : "";
      return `${inKey ? "its key " : ""}looks like ${like}${place}${others}${own}`;
    },
  },
  "no-room": {
    meaning: "the document is full",
    say: () => `the document is over ${LIMITS.documentBytes} bytes`,
    advise: () => "delete something first",
  },
  "too-large": {
    meaning: "the followed file is over the limit",
    say: () => `is over ${LIMITS.claudeMdBytes} bytes`,
    advise: () => "make it shorter",
  },
  "has-nul": {
    meaning: "the followed file has a NUL character",
    say: () => "holds a NUL character",
    advise: () => "take it out",
  },
  "told-before": {
    meaning: "held by a version that kept a sentence, which `said` has",
    say: ({ said }: Said) => said,
  },
  "not-looked-at": { meaning: "the file was not looked at yet", say: () => "not looked at yet" },
  "not-read": {
    meaning: "nobody has said that what is there is read",
    say: ({ by }: { readonly by: string }) => `\`memsync ${by} on\` reads it`,
  },
  "being-written": { meaning: "the file changes just now", say: () => "is being written" },
  "not-now": {
    meaning: "git, or whoever saves the file, may not be done yet",
    say: () => "is being looked at",
  },
  "no-file": {
    meaning: "there is neither a file nor a text",
    say: () => "is not there, and the document has no text",
  },
  missing: {
    meaning: "the file is not there, and nobody has agreed that it is made",
    say: ({ lines }: Missing) => {
      if (lines === undefined) return "is missing";
      if (lines === null) return "is not there yet";
      return `is missing here, the project has ${lines === 1 ? "1 line" : `${lines} lines`}`;
    },
    advise: ({ lines }: Missing) => {
      if (lines === null) return "the first of CLAUDE.md, .claude/CLAUDE.md, AGENTS.md is followed";
      const writes = "`memsync doc write` writes it";
      return lines === undefined ? `${writes}, where the document has any text` : writes;
    },
  },
  unsent: {
    meaning: "the file went before its text was sent",
    say: () => "went before its text was sent",
    advise: () => "`memsync doc history` has it, `memsync doc restore REV` sends it",
  },
  "wait-service": {
    meaning: "the service has not answered for the project yet",
    say: () => "waits for the service's first answer",
  },
  "wait-grace": {
    meaning: "the file is empty or gone, perhaps for a moment",
    say: () => "is empty or gone; waits a moment",
  },
  "wait-tree": {
    meaning: "git may still be making the working tree",
    say: ({ making }: { readonly making: keyof typeof MAKING }) => MAKING[making],
  },
  "leave-aside": {
    meaning: "lines that git took out of the file, put back or brought are in an open conflict",
    say: () => "is not written until it is settled what becomes of lines that git moved",
    advise: () => "have git undo that, or settle it with `memsync conflicts`",
  },
  "leave-busy": {
    meaning: "git is in the middle of something",
    say: ({ operation }: { readonly operation: string }) => {
      if (operation === "locked") return "is left alone while git is at work";
      if (operation === "unmerged") return "is left alone until its merge conflict is resolved";
      return `is left alone during the ${operation}`;
    },
  },
  "leave-lost": {
    meaning: "the file's repository is gone",
    say: () => "is left alone, for its .git is gone",
    advise: () => "`memsync link` follows it without git",
  },
  "leave-branch": {
    meaning: "another branch than the default one is checked out",
    say: ({ branch, isDetached }: OtherBranch) => {
      return `is left alone on ${branch ?? (isDetached ? "a detached HEAD" : "another branch")}`;
    },
    advise: ({ followed }: OtherBranch) => {
      return followed === undefined
        ? "no default branch is known"
        : `it is followed on ${followed}`;
    },
  },
  gone: {
    meaning: "the file was deleted, which deletes nothing elsewhere",
    say: () => "is gone, which deletes nothing elsewhere",
    advise: () => WAYS_ON,
  },
  "emptied-by-git": {
    meaning: "the file is empty, and git or a deletion may be why",
    say: () => "is empty since git moved or it was gone, which deletes nothing elsewhere",
    advise: () => WAYS_ON,
  },
  deleted: {
    meaning: "the project was deleted",
    say: ({ machine }: { readonly machine?: string }) => {
      const by = machine === undefined ? "" : ` on ${machine}`;
      return `stays as it is: its project was deleted${by}`;
    },
    advise: () => "`memsync link --anew` begins it anew, `memsync unlink` forgets it",
  },
  "folder-gone": {
    meaning: "the linked folder is not there",
    say: ({ isReplaced }: GoneFolder) => {
      const how = isReplaced ? "is gone: something else is there" : "is gone";
      return `is left alone: its folder ${how}, which deletes nothing`;
    },
    advise: ({ dir }: GoneFolder) => {
      const moved = "a memsync command in it finds it again if it was moved on this disk";
      return `${moved}, \`memsync unlink ${shellWord(dir)}\` forgets it`;
    },
  },
  "folder-unknown": {
    meaning: "the linked folder can't be looked at",
    say: ({ said }: Said) => {
      return `is left alone: its folder can't be looked at (${said}), which deletes nothing`;
    },
  },
  "folder-another": {
    meaning: "another folder is where the linked one was",
    say: ({ isElsewhere }: { readonly isElsewhere: boolean }) => {
      const mount = isElsewhere ? ", or the linked one is not mounted" : "";
      return `is left alone: another folder was put in place of the linked one${mount}`;
    },
    advise: () => "`memsync link` there goes on with it",
  },
  "not-a-file": { meaning: "a folder, a pipe or the like is there", say: () => "is not a file" },
  "not-utf8": {
    meaning: "the file's bytes are no UTF-8",
    say: () => "is not UTF-8",
    advise: () => "save it as UTF-8",
  },
  unreadable: {
    meaning: "the system does not give the file",
    say: ({ said }: Said) => `can't be read: ${said}`,
  },
  "look-failed": {
    meaning: "looking at the file failed",
    say: ({ said }: Said) => said,
  },
  "not-kept": {
    meaning: "the file is followed, and a write could not keep all that belongs to it",
    say: ({ what }: { readonly what: readonly NotKept[] }) => {
      const words = what.map((each) => NOT_KEPT[each]);
      const last = words.at(-1) ?? "";
      const all = words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
      return `is followed; the system did not let a write keep its ${all}`;
    },
  },
  "network-disk": {
    meaning: "the system tells nothing of what other machines change on the folder's file system",
    say: ({ type }: { readonly type: string }) => `it is on ${type}`,
  },
  "watch-limit": {
    meaning: "a limit of the system's on watching is reached",
    say: ({ limit }: { readonly limit: string }) =>
      `the system's limit fs.inotify.${limit} is reached`,
  },
  "watch-failed": {
    meaning: "the system would not watch the folder",
    say: ({ said }: Said) => `watching it failed (${said})`,
  },
  ...REPOSITORY_REASONS,
  "name-twice": {
    meaning: "another home has this one's name, so that histories do not tell the two apart",
    say: ({ at }: NameTwice) => {
      const day = new Date(at).toISOString().slice(0, 10);
      return `another home has this name, too, and wrote on ${day}; histories mix them up`;
    },
    advise: ({ file }: NameTwice) =>
      `\`echo NAME > ${shellWord(file)}\` gives this one another; if that was ` +
      "this home, before it was restored from a copy, nothing is to be done: " +
      "one that writes no more counts for 30 days",
  },
  "damage-told": {
    meaning: "a database was damaged, and what could be read of it is in a new one",
    say: ({ said }: Said) => said,
  },
  "damage-untold": {
    meaning: "a database was damaged, and the note about it can't be read",
    say: ({ said }: Said) => said,
  },
  "id-anew": {
    meaning: "the file with this home's id was damaged, so the home has another id since",
    say: ({ file }: { readonly file: string }) =>
      "its home's id was damaged and made anew, so what it wrote before counts as another " +
      `machine's; \`rm ${shellWord(file)}\` ends this note`,
  },
  "write-unfinished": {
    meaning: "a write that was interrupted can't be finished, so the file is not read",
    say: () => "has a write that was interrupted, and that can't be finished",
  },
  ...CALL_REASONS,
  ...GIT_REASONS,
  ...ALSO_REASONS,
  ...IGNORED_REASONS,
  ...LINK_REASONS,
  ...MEMORY_REASONS,
  ...PERSONAL_REASONS,
  "connected-elsewhere": {
    meaning: "this machine has nothing of projects that the searched one is connected to",
    say: ({ projects }: ConnectedElsewhere) => {
      const others = count(projects.length, "project", "projects");
      return `is connected to ${others} of which this machine has nothing, so none was searched`;
    },
    advise: ({ projects }: ConnectedElsewhere) => {
      const some = projects.slice(0, CONNECTED_NAMED_MAX);
      const ways = some.map((id) => `\`memsync link DIR --id ${id}\``).join(", ");
      return `${ways} keeps it here, too, where DIR is its folder`;
    },
  },
} as const satisfies Readonly<Record<string, Entry>>;

/** Identifies a reason in tables, in `--json` and in the code. */
export type ReasonCode = keyof typeof REASONS;

type FactsOf<Code extends ReasonCode> =
  Parameters<(typeof REASONS)[Code]["say"]> extends readonly [infer Facts] ? Facts : unknown;

/** The reason of one code, with the facts that its sentence names. */
export type ReasonOf<Code extends ReasonCode> = { readonly code: Code } & FactsOf<Code>;

/**
 * Why something is refused, held or left alone. It is stored and compared in this form, never as a
 * sentence; `explain` makes the sentence.
 *
 * ```
 * const reason: Reason = { code: "no-room" };
 * explain(reason); // "the document is over 11534336 bytes: delete something first"
 * ```
 */
export type Reason = { readonly [Code in ReasonCode]: ReasonOf<Code> }[ReasonCode];

/** The reason with what to do, in words that follow the name of the thing. */
export function explain(reason: Reason): string {
  // Each entry takes the facts of its own code, which the type of `Reason` pairs with it.
  const { say, advise } = REASONS[reason.code] as {
    say(facts: Reason): string;
    advise?(facts: Reason): string;
  };
  if (!advise) return say(reason);
  // The quoted words may contain a colon.
  return `${say(reason)}${"said" in reason ? ";" : ":"} ${advise(reason)}`;
}

/** A reason as `--json` shows it: the sentence and its code; null where there is none. */
export interface ReasonNote {
  readonly note: string | null;
  readonly code: ReasonCode | null;
}

/** A reason, or none, for `--json`. */
export function noteFrom(reason: Reason | undefined): ReasonNote {
  return { note: reason ? explain(reason) : null, code: reason?.code ?? null };
}

/** The form in which a table stores it. */
export function reasonText(reason: Reason): string {
  return JSON.stringify(reason);
}

/** Reads what `reasonText` wrote. A repaired database may contain an older sentence. */
export function parseReason(text: string): Reason {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isReason(parsed)) return parsed;
  } catch {
    // A sentence is no JSON.
  }
  return { code: "told-before", said: text };
}

function isReason(value: unknown): value is Reason {
  if (typeof value !== "object" || value === null || !("code" in value)) return false;
  return Object.hasOwn(REASONS, String(value.code));
}

/** Whether two reasons have the same code and the same facts. */
export function isSameReason(one: Reason, other: Reason): boolean {
  // To the compiler an interface is no `JsonValue`, because it has no index signature.
  return equalJson(one as unknown as JsonValue, other as unknown as JsonValue);
}
