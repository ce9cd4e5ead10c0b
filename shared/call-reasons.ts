import { count } from "./count.ts";

/** What a service said, and with which status. */
export interface AnsweredCall {
  readonly status: number;
  readonly said: string;
}

/** What the system said about the failure, or what this program did. */
export interface FailedCall {
  readonly said: string;
}

/** How long something lasts, or when it is tried again. */
export interface InSeconds {
  readonly seconds: number;
}

/** The remote, by its name in this home. */
export interface OfNamedRemote {
  readonly remote: string;
}

/** What must not come to a service. */
export interface PrivateParts {
  /** The project's name. */
  readonly project: string;
  /** The name of the remote to which it was to be moved. */
  readonly remote: string;
  /** What it is, by its name alone, and why. */
  readonly parts: readonly string[];
  /** How many more there are. */
  readonly more: number;
}

/** A quota as its service tells it, or as it is published. */
export interface QuotaFacts {
  readonly limit?: number | undefined;
  readonly windowMs?: number | undefined;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The time that a quota is for, in words that follow its number. */
function quotaTime(windowMs: number | undefined): string {
  if (windowMs === MINUTE_MS) return "a minute";
  if (windowMs === DAY_MS) return "a day";
  return windowMs === undefined ? "at a time" : `in ${Math.round(windowMs / MS_PER_S)} s`;
}

const MS_PER_S = 1000;

const inTime = ({ seconds }: InSeconds) => count(seconds, "second", "seconds");
const logIn = ({ remote }: OfNamedRemote) => `\`memsync login --remote ${remote}\``;

/** Reasons why a service could not be called, or did not do what it was asked. */
export const CALL_REASONS = {
  "connection-refused": {
    meaning: "nothing takes connections at the service's address",
    say: () => "the connection was refused",
  },
  "connection-closed": {
    meaning: "the connection to the service was closed before its answer",
    say: () => "the connection was closed",
  },
  "name-not-known": {
    meaning: "the name in the service's address is not known here",
    say: () => "its name is not known here",
  },
  "call-failed": {
    meaning: "the system did not make the call",
    say: ({ said }: FailedCall) => said,
  },
  "call-failed-here": {
    meaning: "the call failed on this machine, before or after the service",
    say: ({ said }: FailedCall) => `it failed on this machine: ${said}`,
  },
  "call-late": {
    meaning: "the service did not answer in time",
    say: (wait: InSeconds) => `it did not answer within ${inTime(wait)}`,
  },
  "no-answer": {
    meaning: "the live socket is silent, or a call has waited for long",
    say: () => "it does not answer",
  },
  "call-answered": {
    meaning: "the service answered a call with an error",
    say: ({ status, said }: AnsweredCall) => `it answered ${status}: ${said}`,
  },
  "call-redirected": {
    meaning: "the service answered that it is at another address, which is not followed",
    say: ({ status }: Pick<AnsweredCall, "status">) =>
      `it answered ${status}: it is at another address`,
  },
  "part-refused": {
    meaning: "the service refused what a call of several projects has of this one",
    say: ({ said }: FailedCall) => said,
  },
  "put-off": {
    meaning: "the service puts off every project of a call",
    say: () => "the service puts it off",
  },
  "answer-not-json": {
    meaning: "the service's answer is not JSON",
    say: () => "its answer is not JSON",
  },
  "answer-not-exchange": {
    meaning: "the service's answer is not that of an exchange",
    say: ({ said }: FailedCall) => `the service's answer is not a replica exchange: ${said}`,
  },
  "answer-not-project": {
    meaning: "the service's answer is no project",
    say: () => "its answer is no project",
  },
  "answer-not-memories": {
    meaning: "the service's answer is no list of memories",
    say: () => "its answer is no list of memories",
  },
  "bound-anew": {
    meaning: "the project was bound to another remote during the call",
    say: () => "the project is bound to another remote now",
  },
  "requests-used-up": {
    meaning: "a person's request is not made, for the account's requests are used up",
    say: (wait: InSeconds) =>
      `the account's requests are used up; there are more in ${inTime(wait)}`,
  },
  "requests-paused": {
    meaning: "a person's request is not made, for the service asked for a pause",
    say: (wait: InSeconds) =>
      `the service asked for a pause, and is asked again in ${inTime(wait)}`,
  },
  "requests-refused": {
    meaning: "calls wait, for the service asked for a pause",
    say: () => "the service asked for a pause",
  },
  "requests-used": {
    meaning: "calls wait, for a quota of the account is used, but for what is kept for people",
    say: ({ limit, windowMs }: QuotaFacts) => {
      if (limit === undefined) return "the account's requests are used";
      return `the account has ${limit} requests ${quotaTime(windowMs)}`;
    },
  },
  "requests-shared": {
    meaning: "calls wait, for a service that tells no limits refused some: others use them, too",
    say: ({ limit }: Required<Pick<QuotaFacts, "limit">>) => {
      const share = limit === 1 ? "1 request a minute" : `${limit} requests a minute`;
      return `others use the account's requests, too: ${share} for this machine`;
    },
  },
  "requests-pace": {
    meaning: "calls wait, so that this machine's part of the account's requests lasts for the day",
    say: ({ everyMs }: { readonly everyMs: number }) => {
      const every = `one request every ${Math.max(1, Math.round(everyMs / MS_PER_S))} s`;
      return `${every}, to last for the day (\`memsync sync\` does not wait)`;
    },
  },
  "service-not-known": {
    meaning: "a damaged database did not tell which service a remote is",
    say: () =>
      "the damaged database did not tell which service this is bound to, so nothing of it is sent",
    advise: () => "bind each of its projects by `memsync link DIR --remote NAME`",
  },
  "no-token": {
    meaning: "there is no token for the service",
    say: (of: OfNamedRemote) => `no token: run ${logIn(of)}`,
  },
  "token-of-another": {
    meaning: "the token is another account's or another user's than the one before",
    say: ({ refusal }: { readonly refusal: string }) => refusal,
  },
  "token-unreadable": {
    meaning: "the place where the token should be can't be read",
    say: ({ said }: FailedCall) => said,
  },
  "private-there": {
    meaning: "a project has what must not come to a service that gets it for the first time",
    say: ({ project, parts, more }: PrivateParts) =>
      `${project} does not come to this service, for ${parts.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
    advise: ({ remote }: PrivateParts) =>
      `delete that first, or let it be synced: \`memsync link DIR --remote ${remote}\` with ` +
      "--allow-secret or --allow-personal",
  },
  "keyring-shut": {
    meaning: "the keyring does not give the token",
    say: (of: OfNamedRemote) =>
      `the keyring does not give its token: unlock it, then \`memsync sync\`, or run ${logIn(of)}`,
  },
} as const;
