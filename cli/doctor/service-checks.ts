import { parseQuotas, parseRetryAfter } from "../../daemon/budget/quota-headers.ts";
import { errorMessageIn, whyUnsent } from "../../daemon/service/http-service.ts";
import type { Account } from "../../shared/wire/account.ts";
import { realWorld } from "../../shared/world-real.ts";
import { accountOf, rightOf } from "../contact/token-right.ts";
import { spanShown } from "../screen/output.ts";
import { type Finding, noted } from "./finding.ts";

/** A server delays the refusal of a client that guesses tokens by up to eight seconds. */
const DEADLINE_MS = 15_000;
const MS_PER_S = 1000;

/** The clock decides which write is later. By accident none is off by more than a minute. */
const CLOCK_SKEW_S_MAX = 60;

/** The result of one request to a service. */
interface Contact {
  readonly status: number;
  /** The service's time in milliseconds since the Unix epoch; NaN where it does not tell. */
  readonly at: number;
  readonly tookMs: number;
  /** The pause that it asks for; undefined where it says none. */
  readonly retryAfterMs: number | undefined;
  /** The refusal in the service's own words. */
  readonly refusal: string;
  /** Whether the service's counts say that nothing is left. */
  readonly isUsedUp: boolean;
}

/** The findings about a service. */
export interface ServiceFindings {
  readonly findings: readonly Finding[];
  /** Its token may only read, which may be intended. */
  readonly isReadOnly: boolean;
}

/** What a check of a service knows besides its address and token. */
export interface ServiceCheckOptions {
  /** The command that fixes the token. */
  readonly login?: string | undefined;
  /** What is wrong with whose the token is; undefined: nothing. */
  readonly judge?: ((told: Account) => Finding | undefined) | undefined;
}

const LOGIN = "`memsync login`, or set MEMSYNC_TOKEN to a token of the service";

/**
 * Checks a service by three authenticated requests, which count like any others: whether it can be
 * reached, accepts the token, lets it write, and has the right time; and whose the token is, where
 * the service tells.
 */
export async function checkService(
  url: string,
  token: string | undefined,
  { login = LOGIN, judge }: ServiceCheckOptions = {},
): Promise<ServiceFindings> {
  const only = (finding: Finding) => ({ findings: [finding], isReadOnly: false });
  if (token === undefined) return only(noted("token-none", `${url} has no token here`, login));
  let contact: Contact;
  try {
    contact = await ask(url, token);
  } catch (thrown) {
    const detail = `${url} can't be reached: ${whyUnsent(thrown).message}`;
    const mend = "look at the network and the address; until then everything is saved here";
    return only(noted("service-unreachable", detail, mend));
  }
  const isTaken = contact.status === 200;
  const told = isTaken ? await accountOf(url, token) : undefined;
  const isOthers = told && judge?.(told);
  const isReadOnly = isTaken && !isOthers && (await rightOf(url, token)) === false;
  const taken = told?.user ? `taken; it is ${told.user}'s` : "taken";
  const ofToken = isOthers
    ? [isOthers]
    : isReadOnly
      ? [noted("token-read-only", `${taken}; ${READ_ONLY}`)]
      : tokenFindings(contact, { login, taken });
  const findings = [serviceFinding(url, contact), ...ofToken, clockFinding(contact)];
  return { findings, isReadOnly };
}

const READ_ONLY = "it may only read, so what is written here stays on this machine";

async function ask(url: string, token: string): Promise<Contact> {
  const startedAt = realWorld.monotonic();
  const response = await fetch(`${url.replace(/\/+$/, "")}/v1/sessions?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  const refusal = errorMessageIn(await response.text());
  const tookMs = Math.round(realWorld.monotonic() - startedAt);
  const { status, headers } = response;
  const retryAfterMs = parseRetryAfter(headers, realWorld.now());
  const at = Date.parse(headers.get("date") ?? "");
  const isUsedUp = parseQuotas(headers)?.some(({ remaining }) => remaining === 0) ?? false;
  return { status, at, tookMs, retryAfterMs, refusal, isUsedUp };
}

function serviceFinding(url: string, contact: Contact): Finding {
  const { status, tookMs, retryAfterMs, refusal, isUsedUp } = contact;
  if (status === 429 || status === 503) {
    const wait = retryAfterMs === undefined ? "wait" : `wait ${spanShown(retryAfterMs)}`;
    const why = isUsedUp ? "the account's requests are used up" : "it takes no calls now";
    const mend = `${wait}: ${why}; until then everything is saved here`;
    return noted("service-busy", `${url} is busy: it answers ${status}: ${refusal}`, mend);
  }
  if (status < 500 && status !== 404)
    return noted("service-answers", `${url} answers in ${tookMs} ms`);
  const mend = "look at the address: it is the host alone, without /v1 or /api";
  return noted("service-fails", `${url} answers ${status}`, mend);
}

/** None where the service does not get as far as looking at the token. */
function tokenFindings(
  { status }: Contact,
  { login, taken }: { readonly login: string; readonly taken: string },
): Finding[] {
  if (status >= 500) return [];
  if (status === 401)
    return [noted("token-not-taken", "not taken: unknown, expired or revoked", login)];
  if (status === 403) return [noted("token-forbidden", "may not read", "ask for another token")];
  return [noted("token-taken", taken)];
}

function clockFinding({ at }: Contact): Finding {
  if (Number.isNaN(at)) return noted("clock-untold", "the service tells no time to compare with");
  const skew = Math.round((realWorld.now() - at) / MS_PER_S);
  if (Math.abs(skew) <= CLOCK_SKEW_S_MAX) return noted("clock-right", "as the service's");
  const detail = `${Math.abs(skew)} s ${skew > 0 ? "ahead of" : "behind"} the service's`;
  return noted("clock-off", detail, "set it, by NTP at best: of two writes the later one counts");
}
