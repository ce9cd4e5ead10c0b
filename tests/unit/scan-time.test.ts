import { expect, test } from "bun:test";
import { LetteredText } from "../../daemon/held/lettered-text.ts";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { personalBlocksIn } from "../../daemon/home/personal-mark.ts";
import { formerLinesOf, isOnesOwn, saysALot } from "../../daemon/home/text-line.ts";

/** What a line repeats: signs, letters, and what a rule's pattern begins with. */
const REPEATED = [
  ..." \t#*_`\"':=-./|<&>[(%\\aA7é是",
  ...[" #", "a ", "a: ", "a:* ", "** ", "> ", "- > ", "<a", "<a ", "&a", "&#1", "%41", "\\u0041"],
  ...[
    "1. ",
    "a) ",
    "[x] ",
    "a.",
    "a/",
    '"a":',
    "key ",
    "key: ",
    "key=",
    "token token",
    "password: ",
  ],
  ...["://", "a://b:", "eyJ", "| ", "|-", ":-|", "-----BEGIN ", "<!-- memsync:personal "],
  ...["memsync:allow-secret ", "zx9kt44plmq2vb7w, ", "a\n", "# \n", "key:\n"],
  `${"9ae3f1c0b7d24e6f8a1b".repeat(2)} and `,
];
/** What stands before that, and after. */
const BEGINNINGS = ["", "key\n# ", "# API keys\n"];
const ENDS = ["x\u0000", "word ".repeat(60)];
/** A scan that takes more than linear time takes minutes for that. */
const LENGTH = 32_000;
const PROCESSOR_MS_MAX = 4_000;

const SCANS: readonly ((text: string) => unknown)[] = [
  (text) => findSecrets(text),
  (text) => new LetteredText(text).linesWith("what stands nowhere in it"),
  formerLinesOf,
  isOnesOwn,
  saysALot,
  personalBlocksIn,
];

test("no line takes a scan more than linear time", async () => {
  for (const repeated of REPEATED) {
    const middle = repeated.repeat(LENGTH / repeated.length);
    const texts = BEGINNINGS.flatMap((begin) => ENDS.map((end) => begin + middle + end));
    for (const [at, scan] of SCANS.entries()) {
      for (const text of texts) {
        const begun = process.cpuUsage();
        await scan(text);
        const { user } = process.cpuUsage(begun);
        const isQuick = user < PROCESSOR_MS_MAX * 1_000;
        expect([at, repeated, text.slice(0, 8), isQuick]).toEqual([
          at,
          repeated,
          text.slice(0, 8),
          true,
        ]);
      }
    }
  }
}, 240_000);

test("a value without an end takes a scan no longer than a text", async () => {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  let state = 7;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return letters[(state >>> 8) % letters.length];
  };
  const text = `key: ${Array.from({ length: 250_000 }, next).join("")}`;
  const begun = process.cpuUsage();
  await findSecrets(text);
  expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(PROCESSOR_MS_MAX);
}, 240_000);
