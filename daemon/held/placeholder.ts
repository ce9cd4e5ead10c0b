/** Words that stand for a secret. */
const WORDS =
  /example|placeholder|change[-_]?(?:me|it)|replace|insert|your|dummy|redacted|sample|fake|notreal|todo/i;
/** What is to be put in, and nothing behind it: `key-here`, `SecretHere`. Not `turkeyhere77`. */
const HERE = /(?:^|[^a-z])(?:goes|key|password|secret|token)[-_\s]?here$/i;
const CAPITAL_HERE = /(?:Goes|Key|Password|Secret|Token)Here$/;
/** What is said of a length, and of what has it: `at-least-32-characters-long-secret`. */
const LENGTH_WORDS =
  /^(?:access|an?|api|app|at|auth|be|bits?|bytes?|char(?:acter)?s?|cookie|encryption|for|hex|in|is|jwt|key|least|length|long|max(?:imum)?|min(?:imum)?|more|must|my|of|or|pass(?:word|phrase)|random|secret|session|should|signing|string|super|than|the|this|token|very|with)+$/i;
const LENGTH_UNIT = /bits?|byte|char|least|long|max|min/i;
/**
 * Passwords that were published as examples or as what a system is delivered with: as they stand
 * here they are everybody's. `isPlaceholder` alone knows them.
 */
const PUBLISHED = new Set([
  "correct horse battery staple",
  "correct-horse-battery-staple",
  "correcthorsebatterystaple",
  "hunter2",
  "minio123",
  "minioadmin",
  "raspberry",
  "s3cr3t",
  "toor",
  "vagrant",
]);
/** A hidden secret: `xxxx`, `****`, `....`, `____`. */
const COVERED = /x{4,}|[*•.…]{3,}|_{4,}|#{4,}/i;
/** An id of nobody, such as `00000000`. Some real tokens begin like that. */
const REPEATED = /(.)\1{7,}/;
/** A value to be filled in: `<password>`, `$PASSWORD`, `{{ password }}`, `%PASSWORD%`. */
const FILLED_IN = /^\$\w+$|\$[({]|^%\w+%?$|^@\w+@$|^[<[{(]|[<>{}]/;

/** Whether a value only stands for a secret: an example, a hidden one, or one to be filled in. */
export function isPlaceholder(value: string): boolean {
  if (PUBLISHED.has(value.toLowerCase().replace(/[.,:;!?)]+$/, ""))) return true;
  if (WORDS.test(value) || HERE.test(value) || CAPITAL_HERE.test(value)) return true;
  if (COVERED.test(value) || FILLED_IN.test(value) || isLength(value)) return true;
  const repeated = REPEATED.exec(value)?.[0].length ?? 0;
  return repeated > value.length / 3 || isCounted(value);
}

/** Whether it says how long a secret is to be, and nothing else: what stands beside may be one. */
function isLength(value: string): boolean {
  const [number = "", ...others] = value.match(/\d+/g) ?? [];
  if (number === "" || number.length > 4 || others.length > 0) return false;
  return LENGTH_UNIT.test(value) && LENGTH_WORDS.test(value.replace(/[-_\s.,\d]+/g, ""));
}

/** Whether at least half of it continues from the character before, as in `1234567890abcdef`. */
function isCounted(value: string): boolean {
  let steps = 0;
  for (let at = 1; at < value.length; at++) {
    const step = value.charCodeAt(at) - value.charCodeAt(at - 1);
    const pair = value.slice(at - 1, at + 1).toLowerCase();
    if (step === 1 || pair === "90" || pair === "0a" || pair === "9a" || pair === "f0") steps++;
  }
  return steps >= (value.length - 1) / 2;
}

/** Entropy in bits for each character, by how often each occurs in the text (Shannon). */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  let length = 0;
  for (const count of counts.values()) length += count;
  for (const count of counts.values()) bits -= (count / length) * Math.log2(count / length);
  return bits;
}
