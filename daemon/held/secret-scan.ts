import { ALLOW_MARK } from "../home/allow-mark.ts";
import { headedAssignments } from "./headed-assignments.ts";
import type { SecretRule } from "./secret-rule.ts";
import { tableAssignments } from "./table-assignments.ts";

/** A part of a text that looks like a secret. */
export interface Secret {
  /** The id of the rule that found it. */
  readonly rule: string;
  /** What it looks like, in words that follow "looks like". */
  readonly kind: string;
  /**
   * The secret, with what `secretAlone` takes off it. It must never be logged, shown, or stored
   * beside its text.
   */
  readonly text: string;
  /** The line at which it begins; the first line is 1. */
  readonly line: number;
}

/** Alone except for the signs of a comment, as in `<!-- memsync:allow-secret -->`. */
const MARK_ALONE = new RegExp(`^[^\\p{L}\\p{N}]*${ALLOW_MARK}[^\\p{L}\\p{N}]*$`, "u");

/**
 * A text is scanned in pieces of this length. They overlap by the second number, because a private
 * key may lie across a border. The scan ends after the piece with which the third number of secrets
 * is reached.
 */
const PIECE_LENGTH = 128 * 1024;
const SHARED_LENGTH = 18 * 1024;
const SECRETS_MAX = 100;

/** What a rule found in a piece, and where. */
interface Finding {
  readonly rule: SecretRule;
  /** If two rules found something, the lower rank counts, because that rule is more specific. */
  readonly rank: number;
  readonly from: number;
  readonly to: number;
}

let rules: Promise<readonly SecretRule[]> | undefined;

/**
 * What in a text looks like a secret, in order of place, by gitleaks' rules and our own. The rules
 * are loaded at the first call. If there are very many secrets, only some are returned, but always
 * some of those that `unknownAmong` keeps, if there are any.
 *
 * ```
 * const [secret] = await findSecrets("password: hunter-2-Xq9");
 * secret?.line; // 1
 * ```
 */
export async function findSecrets(
  text: string,
  unknownAmong: (found: readonly Secret[]) => Promise<readonly Secret[]> = async (all) => all,
): Promise<Secret[]> {
  const known = await knownRules();
  const found = new Map<string, Secret>();
  let line = 1;
  for (let at = 0; at === 0 || at + SHARED_LENGTH < text.length; ) {
    const piece = text.slice(at, at + PIECE_LENGTH);
    for (const secret of await unknownAmong(secretsIn(known, piece, line))) {
      found.set(`${secret.line} ${secret.text}`, secret);
    }
    if (found.size >= SECRETS_MAX) break;
    const next = at + PIECE_LENGTH - SHARED_LENGTH;
    line += countLines(text, at, next);
    at = next;
  }
  return [...found.values()].sort((one, other) => one.line - other.line);
}

/** Stands in the place of a secret. */
export const HIDDEN = "[secret]";

/**
 * Hides what looks like a secret in a short text, such as a line of a log.
 *
 * ```
 * const hide = await secretHider();
 * hide("unknown command ghp_…"); // "unknown command [secret]"
 * ```
 */
export async function secretHider(): Promise<(text: string) => string> {
  const known = await knownRules();
  return (text) =>
    secretsIn(known, text, 1).reduce((left, { text: each }) => left.replaceAll(each, HIDDEN), text);
}

function knownRules(): Promise<readonly SecretRule[]> {
  rules ??= loadRules().catch((thrown) => {
    rules = undefined;
    throw thrown;
  });
  return rules;
}

async function loadRules(): Promise<readonly SecretRule[]> {
  const [personal, own, command, token, assigned, plain, sentence, setting, file, gitleaks] =
    await Promise.all([
      import("./personal-rule.ts"),
      import("./own-rules.ts"),
      import("./command-rules.ts"),
      import("./token-rules.ts"),
      import("./assigned-rules.ts"),
      import("./plain-password.ts"),
      import("./sentence-rules.ts"),
      import("./setting-rules.ts"),
      import("./file-rules.ts"),
      import("./gitleaks-rules.ts"),
    ]);
  // What is only known by its name comes last: other rules say more exactly what they found.
  return [
    ...personal.PERSONAL_RULES,
    ...own.OWN_RULES,
    ...command.COMMAND_RULES,
    ...(await gitleaks.loadGitleaksRules()),
    ...token.TOKEN_RULES,
    ...assigned.ASSIGNED_RULES,
    ...plain.PLAIN_PASSWORD_RULES,
    ...sentence.SENTENCE_RULES,
    ...setting.SETTING_RULES,
    ...file.FILE_RULES,
  ];
}

/** By the rules as they are, and by what its tables, sections and lists assign. */
function secretsIn(rules: readonly SecretRule[], piece: string, firstLine: number): Secret[] {
  const secrets = secretsByRules(rules, piece, firstLine);
  const assigned = [...tableAssignments(piece), ...headedAssignments(piece)];
  if (assigned.length === 0) return secrets;
  const lines = new Lines(piece);
  const tableRules = rules.filter(({ needsLine }) => !needsLine);
  for (const { text, line } of assigned.sort((one, other) => one.line - other.line)) {
    lines.goToLine(line);
    if (lines.isAllowed) continue;
    for (const secret of secretsByRules(tableRules, text, firstLine + line)) {
      if (!secrets.some((each) => isSame(each, secret))) secrets.push(secret);
    }
  }
  return secrets;
}

function isSame(one: Secret, other: Secret): boolean {
  if (one.line !== other.line) return false;
  return one.text.includes(other.text) || other.text.includes(one.text);
}

function secretsByRules(rules: readonly SecretRule[], piece: string, firstLine: number): Secret[] {
  const plain = withPlainSigns(piece);
  const lower = plain.toLowerCase();
  const findings = rules.flatMap((rule, rank) =>
    rule.keywords.some((keyword) => lower.includes(keyword)) ? findingsOf(rule, rank, plain) : [],
  );
  const secrets: Secret[] = [];
  const lines = new Lines(piece);
  for (const { rule, from, to } of withoutOverlaps(findings)) {
    lines.goTo(from);
    if (lines.isAllowed && !rule.isNoSecret) continue;
    const text = piece.slice(from, to);
    secrets.push({ rule: rule.id, kind: rule.kind, text, line: firstLine + lines.number });
  }
  return secrets;
}

/**
 * The text with the blanks and colons that rules know, of equal length: a web page and a phone put
 * others between a name and its secret, some of which nobody sees.
 */
function withPlainSigns(text: string): string {
  return text
    .replace(/[\u00a0\u2007\u202f\u3000]|(?<=[:=\s])[\u200b-\u200d\u2060\ufeff]/g, " ")
    .replaceAll("\uff1a", ":");
}

function findingsOf(rule: SecretRule, rank: number, text: string): Finding[] {
  const findings: Finding[] = [];
  for (const found of text.matchAll(rule.pattern)) {
    const [match, ...groups] = found;
    const secret = groups.find((group) => group !== undefined) ?? match;
    if (!rule.accepts({ secret, match, text, at: found.index })) continue;
    const from = found.index + match.lastIndexOf(secret);
    findings.push({ rule, rank, from, to: from + secret.length });
  }
  return findings;
}

/** In order of place. Of two that overlap, the first rule's stays. */
function withoutOverlaps(findings: readonly Finding[]): Finding[] {
  const sorted = [...findings].sort((one, other) => one.from - other.from || one.rank - other.rank);
  const left: Finding[] = [];
  for (const finding of sorted) {
    const last = left.at(-1);
    if (!last || finding.from >= last.to) left.push(finding);
    else if (finding.rank < last.rank) left[left.length - 1] = finding;
  }
  return left;
}

/** Walks through the lines of a text, from the first on. */
class Lines {
  /** Number of the current line; the first is 0. */
  number = 0;
  /** A mark says that what begins in this line is no secret. */
  isAllowed: boolean;
  readonly #text: string;
  #before = "";
  #line: string;
  #end: number;

  constructor(text: string) {
    this.#text = text;
    this.#end = endOfLine(text, 0);
    this.#line = text.slice(0, this.#end);
    this.isAllowed = this.#line.includes(ALLOW_MARK);
  }

  /** Moves on to the line of the character at `at`, which must not lie before the current line. */
  goTo(at: number): void {
    while (this.#end < at) this.#next();
  }

  /** Moves on to a line that does not lie before the current one. */
  goToLine(number: number): void {
    while (this.number < number) this.#next();
  }

  #next(): void {
    const start = this.#end + 1;
    this.#end = endOfLine(this.#text, start);
    this.#before = this.#line;
    this.#line = this.#text.slice(start, this.#end);
    this.number++;
    this.isAllowed = this.#line.includes(ALLOW_MARK) || MARK_ALONE.test(this.#before);
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) {
    count++;
  }
  return count;
}
