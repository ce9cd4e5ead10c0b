// Becomes another program under the filter of system calls that a unit's lines describe:
// `bun under-filter.ts UNIT PROGRAM ARG…`. As root it becomes nobody first, as the unit's user is
// not root either.
import { dlopen, FFIType, ptr } from "bun:ffi";

const KILL_PROCESS = 0x80000000;
const ALLOW = 0x7fff0000;
const NOBODY = 65534;

const { i32, u32, u64, pointer, cstring } = {
  i32: FFIType.i32,
  u32: FFIType.u32,
  u64: FFIType.u64,
  pointer: FFIType.ptr,
  cstring: FFIType.cstring,
};
const { symbols: seccomp } = dlopen("libseccomp.so.2", {
  seccomp_init: { args: [u32], returns: pointer },
  seccomp_syscall_resolve_name: { args: [cstring], returns: i32 },
  // It takes any number of conditions; there are none.
  seccomp_rule_add_array: { args: [pointer, u32, i32, u32, pointer], returns: i32 },
  seccomp_load: { args: [pointer], returns: i32 },
});
const { symbols: libc } = dlopen("libc.so.6", {
  setgroups: { args: [u64, pointer], returns: i32 },
  setgid: { args: [u32], returns: i32 },
  setuid: { args: [u32], returns: i32 },
  execv: { args: [cstring, pointer], returns: i32 },
});

/** What systemd means by each name with an `@`, by the name. */
function groupsOfCalls(): ReadonlyMap<string, readonly string[]> {
  const shown = Bun.spawnSync(["systemd-analyze", "syscall-filter", "--no-pager"]);
  const groups = new Map<string, string[]>();
  let group: string[] = [];
  for (const line of shown.stdout.toString().split("\n")) {
    if (line.startsWith("@")) {
      group = [];
      groups.set(line.trim(), group);
    } else if (/^ {4}[^# ]/.test(line)) group.push(line.trim());
  }
  return groups;
}

/** The calls that the lines `SystemCallFilter=` of a unit let through. */
function allowedBy(unit: string): ReadonlySet<string> {
  const groups = groupsOfCalls();
  const callsOf = (name: string): readonly string[] =>
    name.startsWith("@") ? (groups.get(name) ?? []).flatMap(callsOf) : [name];
  const allowed = new Set(callsOf("@default"));
  for (const [, not, names = ""] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const call of names.split(" ").flatMap(callsOf)) {
      if (not) allowed.delete(call);
      else allowed.add(call);
    }
  }
  return allowed;
}

const textOf = (text: string) => Buffer.from(`${text}\0`);

function load(allowed: ReadonlySet<string>): void {
  const filter = seccomp.seccomp_init(KILL_PROCESS);
  for (const name of allowed) {
    const call = Number(seccomp.seccomp_syscall_resolve_name(ptr(textOf(name))));
    // This machine may lack some.
    if (call >= 0) seccomp.seccomp_rule_add_array(filter, ALLOW, call, 0, null);
  }
  if (seccomp.seccomp_load(filter) !== 0) throw new Error("the filter can't be loaded");
}

const [unit = "", ...command] = process.argv.slice(2);
const allowed = allowedBy(await Bun.file(unit).text());
if (process.getuid?.() === 0) {
  libc.setgroups(0, null);
  libc.setgid(NOBODY);
  libc.setuid(NOBODY);
}
const texts = command.map(textOf);
const pointers = new BigUint64Array([...texts.map((text) => BigInt(ptr(text))), 0n]);
load(allowed);
libc.execv(ptr(texts[0] ?? textOf("")), ptr(pointers));
throw new Error(`${command[0]} can't be started`);
