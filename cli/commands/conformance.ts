import type { Command } from "commander";
import { type Report, runConformance } from "../../conformance/run.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { complain, say, sayJson } from "../screen/output.ts";
import { Progress } from "../screen/progress.ts";
import { conformanceLines } from "../views/conformance-view.ts";

interface ConformanceFlags {
  readonly url?: string;
  readonly token?: string;
  readonly readOnlyToken?: string;
  readonly otherToken?: string;
  readonly json?: boolean;
}

/** The characters of a header's value. */
const TOKEN = /^[\x21-\x7e]+$/;

/** `conformance`: tests any server against the rules of the published interface. */
export function addConformanceCommand(program: Command, env: Environment): void {
  program
    .command("conformance")
    .description("check that a server keeps to the published interface")
    .option("--url <url>", "its address, without /v1 or /api (MEMSYNC_URL)")
    .option("--token <token>", "a token that reads and writes (MEMSYNC_TOKEN)")
    .option("--read-only-token <token>", "one of the same account that may only read")
    .option("--other-token <token>", "one of another account")
    .option("--json", "print the report as JSON")
    .action(async (flags: ConformanceFlags) => {
      const report = await runShown(optionsOf(flags, env));
      if (flags.json) sayJson(withSummary(report));
      else for (const line of conformanceLines(report)) say(line);
      const failed = report.findings.filter(({ result }) => result === "fails").length;
      if (report.givenUp !== undefined) throw new CommandFailed(report.givenUp);
      if (failed > 0) throw new CommandFailed("the server does not keep to the interface");
    });
}

/** At a terminal a bar shows how far it is; at a server's rate limit a run takes minutes. */
async function runShown(options: ReturnType<typeof optionsOf>): Promise<Report> {
  const bar = new Progress("checking", "rules");
  const waits = (seconds: number) => {
    bar.end();
    complain(`the server's rate limit is reached; waiting ${seconds} s`);
  };
  const shown = { ...options, onWait: waits };
  return await runConformance(shown, (tried, rules) => bar.update(tried, rules)).finally(() => {
    bar.end();
  });
}

function optionsOf(flags: ConformanceFlags, env: Environment) {
  const { readOnlyToken, otherToken, url = env.serviceUrl, token = env.serviceToken } = flags;
  if (url === undefined) throw new UsageError("--url is needed: the address of the server");
  if (token === undefined) throw new UsageError("--token is needed: one that reads and writes");
  for (const each of [token, readOnlyToken, otherToken]) {
    if (each !== undefined && !TOKEN.test(each)) throw new UsageError("a token is no such text");
  }
  return {
    url: parseUrl(url),
    token,
    world: realWorld,
    ...(readOnlyToken !== undefined && { readOnlyToken }),
    ...(otherToken !== undefined && { otherToken }),
  };
}

function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const known = url !== undefined && /^https?:$/.test(url.protocol);
  if (!known || url.search !== "" || url.hash !== "" || /\/(v1|api)\/*$/.test(url.pathname)) {
    throw new UsageError("--url is an address such as https://memory.example.com, without /v1");
  }
  return text.replace(/\/+$/, "");
}

/** The report for `--json`, with names like those of the interface. */
function withSummary({ url, findings, givenUp, requests, waitedSeconds, left }: Report) {
  const number = (wanted: string) => findings.filter(({ result }) => result === wanted).length;
  return {
    url,
    holds: number("holds"),
    fails: number("fails"),
    open: number("open"),
    skipped: number("skipped"),
    requests,
    waited_seconds: waitedSeconds,
    left,
    ended_early: givenUp ?? null,
    rules: findings,
  };
}
