// Checks any server against the rules of the published interface.
// `cli/` alone imports it, and it shares nothing with the rest.

import { ALL_RULES } from "./all-rules.ts";
import { Bench } from "./bench/bench.ts";
import { Broken, GivenUp } from "./bench/broken.ts";
import { cleanUp } from "./bench/clean-up.ts";
import type { ClientOptions } from "./bench/client.ts";
import { requestLine } from "./bench/exchange.ts";
import { NotHere, Open, type Rule } from "./bench/rule.ts";

/** The outcome of one rule. */
export type Verdict =
  | { readonly result: "holds" }
  /** Neither kept nor broken: the published interface leaves it open, with the reason. */
  | { readonly result: "open"; readonly reason: string }
  /**
   * Not tried, with the reason: something was not given, or such a server can't do it by design.
   */
  | { readonly result: "skipped"; readonly reason: string }
  | {
      readonly result: "fails";
      readonly sent: string;
      readonly expected: string;
      readonly got: string;
    };

/** A rule with its outcome. */
export type Finding = Verdict & { readonly endpoint: string; readonly rule: string };

/** One run of the suite. Contains no token. */
export interface Report {
  readonly url: string;
  /** In the order in which they were tried. */
  readonly findings: readonly Finding[];
  /** Why the run ended early; undefined if every rule was tried. */
  readonly givenUp: string | undefined;
  readonly requests: number;
  /** Time spent waiting for the server's rate limit. */
  readonly waitedSeconds: number;
  /** Ids of what the run created and could not delete. */
  readonly left: readonly string[];
}

/** Called when a rule was tried: how many were, of how many. */
export type OnTried = (tried: number, rules: number) => void;

const OPTION = { readOnlyToken: "--read-only-token", otherToken: "--other-token" } as const;

/**
 * Tries the published interface's rules against a server, as one of its clients: in projects and
 * memories of its own, of which it deletes what can be deleted. Rejects only for a bug in a rule.
 *
 * ```
 * const { findings } = await runConformance({ url, token, world: realWorld });
 * ```
 */
export async function runConformance(
  options: ClientOptions,
  onTried: OnTried = () => {},
): Promise<Report> {
  const bench = new Bench(options);
  const { client } = bench;
  const findings: Finding[] = [];
  let givenUp: string | undefined;
  let left: readonly string[] = [];
  try {
    await expectAccess(bench);
    for (const [at, rule] of ALL_RULES.entries()) {
      const { endpoint, name } = rule;
      const finding = { endpoint, rule: name, ...(await tryRule(bench, rule)) };
      findings.push(withoutTokens(finding, options));
      onTried(at + 1, ALL_RULES.length);
    }
    left = await cleanUp(bench);
  } catch (thrown) {
    if (!(thrown instanceof GivenUp)) throw thrown;
    givenUp = thrown.message;
    left = [...bench.projects, ...bench.made];
  }
  const { requests, waitedSeconds } = client;
  return { url: options.url, findings, givenUp, requests, waitedSeconds, left };
}

/** With a token that nobody has, every rule would fail for that alone. */
async function expectAccess(bench: Bench): Promise<void> {
  const { status } = await bench.get("/v1/projects");
  if (status !== 401) return;
  throw new GivenUp("the server answers 401 to --token: is it this server's, and still valid?");
}

async function tryRule(bench: Bench, { needs, check }: Rule): Promise<Verdict> {
  if (needs !== undefined && bench.client.options[needs] === undefined) {
    return { result: "skipped", reason: `${OPTION[needs]} was not given` };
  }
  try {
    await check(bench);
    return { result: "holds" };
  } catch (thrown) {
    if (thrown instanceof Open) return { result: "open", reason: thrown.reason };
    if (thrown instanceof NotHere) return { result: "skipped", reason: thrown.reason };
    if (!(thrown instanceof Broken)) throw thrown;
    const { exchange, expected, got } = thrown;
    return { result: "fails", sent: requestLine(exchange), expected, got };
  }
}

/** A server may have sent a token back, and what failed is shown. */
function withoutTokens(finding: Finding, options: ClientOptions): Finding {
  if (finding.result !== "fails") return finding;
  const { token, readOnlyToken = token, otherToken = token } = options;
  // One may be the beginning of another.
  const tokens = [token, readOnlyToken, otherToken].sort((a, b) => b.length - a.length);
  const hide = (text: string) =>
    tokens.reduce((rest, each) => rest.replaceAll(each, "<token>"), text);
  return { ...finding, sent: hide(finding.sent), got: hide(finding.got) };
}
