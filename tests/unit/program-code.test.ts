import { expect, test } from "bun:test";
import { readFileSync, readlinkSync } from "node:fs";
import { loadReleaseCode, programCodeIn } from "../../daemon/supervise/program-code.ts";
import { LINUX, testWith } from "../support/needs.ts";

const PROGRAM = "/opt/a program/bun";

function mapping(addresses: string, rights: string, path: string, anonymousKb = 0): string {
  return `${addresses} ${rights} 00800000 fe:00 260131                     ${path}
Size:                 16 kB
Rss:                   8 kB
Anonymous:        ${String(anonymousKb).padStart(6)} kB
VmFlags: rd ex mr mw me
`;
}

test("a program's code is what is mapped of its own file to be run, and as it is there", () => {
  const smaps = [
    mapping("00400000-00500000", "r--p", PROGRAM),
    mapping("01a3c000-01a40000", "r-xp", PROGRAM),
    mapping("7f12a0000000-7f12a0002000", "r-xp", PROGRAM),
    mapping("7f12a0002000-7f12a0004000", "rwxp", PROGRAM),
    mapping("7f12b0000000-7f12b0002000", "r-xp", "/usr/lib/libc.so.6"),
    mapping("7f12c0000000-7f12c0002000", "r-xp", ""),
  ].join("");

  expect(programCodeIn(smaps, PROGRAM)).toEqual([
    { start: 0x01a3c000, length: 0x4000 },
    { start: 0x7f12a0000000, length: 0x2000 },
  ]);
});

test("code that was changed in memory is nowhere else, and stays", () => {
  expect(programCodeIn(mapping("01a3c000-01a40000", "r-xp", PROGRAM, 4), PROGRAM)).toEqual([]);
});

testWith(LINUX, "a running program gives its code back, and goes on", async () => {
  const release = await loadReleaseCode();
  const before = codeKb();

  release?.();

  expect(codeKb()).toBeLessThan(before / 2);
  expect(JSON.parse(JSON.stringify({ still: ["here"] }))).toEqual({ still: ["here"] });
});

/** How much of this program's code is in memory. */
function codeKb(): number {
  const program = readlinkSync("/proc/self/exe");
  const mappings = readFileSync("/proc/self/smaps", "utf8").split(/^(?=[0-9a-f]+-)/m);
  const code = mappings.filter((each) => programCodeIn(each, program).length > 0).join("");
  return [...code.matchAll(/^Rss: +(\d+) kB$/gm)].reduce((sum, [, kb]) => sum + Number(kb), 0);
}
