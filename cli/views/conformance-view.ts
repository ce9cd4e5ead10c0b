import { ENDPOINTS, EVERY_ENDPOINT, nameOf } from "../../conformance/bench/endpoints.ts";
import type { Finding, Report } from "../../conformance/run.ts";
import { count, inLines, tableInLines } from "../screen/output.ts";
import { type Style, styled } from "../screen/terminal.ts";

const WORDS: Readonly<Record<Finding["result"], string>> = {
  holds: "holds",
  fails: "FAILS",
  open: "open",
  skipped: "skipped",
};

/** Of the words of the first column; unremarkable ones have none. */
const STYLES: Readonly<Record<string, Style>> = {
  holds: "green",
  FAILS: ["bold", "red"],
  open: "yellow",
};

/**
 * The report of `memsync conformance` for a person: a table, each failure in full, and a summary.
 */
export function conformanceLines(report: Report): string[] {
  const rows = [...ENDPOINTS.map(nameOf), EVERY_ENDPOINT].flatMap((endpoint) =>
    report.findings
      .filter((finding) => finding.endpoint === endpoint)
      .map((finding, at) => [WORDS[finding.result], at === 0 ? endpoint : "", ruleOf(finding)]),
  );
  return [
    ...tableInLines(rows).map(coloured),
    ...[...report.findings.flatMap(failureLines), "", ...summaryLines(report)].flatMap((line) =>
      inLines(line, process.stdout),
    ),
  ];
}

function ruleOf(finding: Finding): string {
  return "reason" in finding ? `${finding.rule}: ${finding.reason}` : finding.rule;
}

function coloured(line: string): string {
  const [word = ""] = line.split(" ", 1);
  const style = STYLES[word];
  return style === undefined ? line : styled(style, word) + line.slice(word.length);
}

function failureLines(finding: Finding): string[] {
  if (finding.result !== "fails") return [];
  return [
    "",
    `${finding.endpoint}: ${finding.rule}`,
    `  sent      ${finding.sent}`,
    `  expected  ${finding.expected}`,
    `  got       ${finding.got}`,
  ];
}

function summaryLines({ findings, requests, waitedSeconds, left, givenUp }: Report): string[] {
  const number = (result: Finding["result"]) =>
    findings.filter((finding) => finding.result === result).length;
  const waited = waitedSeconds > 0 ? `, waited ${waitedSeconds} s for the server's limit` : "";
  return [
    `${count(number("holds"), "rule holds", "rules hold")}, ` +
      `${count(number("fails"), "fails", "fail")}, ` +
      `${number("open")} left open by the published interface, ${number("skipped")} skipped; ` +
      `${count(requests, "request", "requests")}${waited}`,
    ...(left.length > 0 ? [`left behind: ${left.join(", ")}`] : []),
    ...(givenUp === undefined ? [] : [`ended early: ${givenUp}`]),
  ];
}
