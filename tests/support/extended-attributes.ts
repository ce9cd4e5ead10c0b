import { dlopen } from "bun:ffi";

const VALUE_MAX = 1024;
const ACL_NAME = "system.posix_acl_access";
const ACL_VERSION = 2;

function loadLibc() {
  return dlopen("libc.so.6", {
    setxattr: { args: ["cstring", "cstring", "ptr", "usize", "i32"], returns: "i32" },
    getxattr: { args: ["cstring", "cstring", "ptr", "usize"], returns: "i64" },
  }).symbols;
}

/** Sets a file's extended attribute on Linux; false where the file system or the system refuses. */
export function setAttribute(path: string, name: string, value: string | Buffer): boolean {
  if (process.platform !== "linux") return false;
  const bytes = Buffer.from(value);
  return loadLibc().setxattr(cString(path), cString(name), bytes, bytes.length, 0) === 0;
}

/** Undefined where there is none. */
export function getAttribute(path: string, name: string): Buffer | undefined {
  const into = Buffer.alloc(VALUE_MAX);
  const length = Number(loadLibc().getxattr(cString(path), cString(name), into, into.length));
  return length < 0 ? undefined : into.subarray(0, length);
}

/** Lets one user more read and write a file, or what is made in a folder later. */
export function allowUser(path: string, uid: number, name = ACL_NAME): boolean {
  const all = 0xffffffff;
  const entries = [
    [0x01, 6, all],
    [0x02, 6, uid],
    [0x04, 4, all],
    [0x10, 6, all],
    [0x20, 4, all],
  ] as const;
  const value = Buffer.alloc(4 + 8 * entries.length);
  value.writeUInt32LE(ACL_VERSION, 0);
  for (const [at, [tag, permissions, id]] of entries.entries()) {
    value.writeUInt16LE(tag, 4 + 8 * at);
    value.writeUInt16LE(permissions, 6 + 8 * at);
    value.writeUInt32LE(id, 8 + 8 * at);
  }
  return setAttribute(path, name, value);
}

/** Who a file's access list lets in besides; undefined where it has none. */
export function accessList(path: string): Buffer | undefined {
  return getAttribute(path, ACL_NAME);
}

function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`);
}
