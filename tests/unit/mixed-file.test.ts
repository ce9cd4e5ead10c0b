import { expect, test } from "bun:test";
import { isMixOf } from "../../daemon/files/lines/mixed-file.ts";
import { pick, seededRandom } from "../support/random.ts";

const SECTOR = 512;
const PAGE = 4096;
const ROUNDS = 2000;
const SEED = 1;

type Random = () => number;

function textOf(random: Random, lines: number): string {
  const line = () => `- rule ${Math.floor(random() * 1e6)}\n`;
  return Array.from({ length: lines }, line).join("");
}

/** As others' changes make it: a few lines come, go or are others. */
function edited(random: Random, text: string): string {
  const lines = text.split(/(?<=\n)/);
  for (let left = 1 + random() * 4; left > 0; left--) {
    const at = Math.floor(random() * (lines.length + 1));
    lines.splice(at, Math.floor(random() * 3), textOf(random, Math.floor(random() * 3)));
  }
  return lines.join("");
}

/** What a power cut leaves in the middle of a write: any sector is there, and either length. */
function cut(random: Random, former: Buffer, intended: Buffer): Buffer {
  const length = pick(random, [former.length, intended.length]);
  const left = Buffer.alloc(length);
  former.copy(left);
  for (let at = 0; at < length; at += SECTOR) {
    if (random() < 0.5) intended.copy(left, at, Math.min(at, intended.length), at + SECTOR);
  }
  return left;
}

/** What a kill leaves: whole pages from the start, not cut to the length. */
function killed(random: Random, former: Buffer, intended: Buffer): Buffer {
  const pages = Math.floor((random() * intended.length) / PAGE);
  const length = Math.min(intended.length, pages * PAGE);
  return Buffer.concat([intended.subarray(0, length), former.subarray(length)]);
}

test("what a crash leaves in the middle of a write is a mix", () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const former = Buffer.from(textOf(random, random() * 1500));
    const intended = Buffer.from(edited(random, former.toString()));
    const left = pick(random, [cut, killed])(random, former, intended);
    const isEither = left.equals(former) || left.equals(intended);
    const problem = `seed ${SEED}, round ${round}`;
    expect({ problem, is: isMixOf(left, former, intended) }).toEqual({ problem, is: !isEither });
  }
});

test("what a person saved is no mix", () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const former = Buffer.from(textOf(random, random() * 100));
    const intended = Buffer.from(edited(random, former.toString()));
    const saved = Buffer.from(edited(random, pick(random, [former, intended]).toString()));
    // All of a text taken away in its middle, or the same line again, is what both may do.
    if (former.includes(saved) || intended.includes(saved)) continue;
    const problem = `seed ${SEED}, round ${round}`;
    expect({ problem, is: isMixOf(saved, former, intended) }).toEqual({ problem, is: false });
  }
});
