/**
 * Copies the extended attributes, access lists included, from one open file to another, and removes
 * any others. Both arguments are file descriptors. False where the system refused one of them. True
 * where there are no such attributes on this system or runtime.
 */
export type CopyAttributes = (from: number, to: number) => boolean;

/** The implementation for this system. Never rejects. */
export function loadCopyAttributes(): Promise<CopyAttributes> {
  loaded ??= load();
  return loaded;
}

/**
 * The C library's functions. By the type alone, so that a runtime without them can load this file.
 */
type Ffi = typeof import("bun:ffi");

let loaded: Promise<CopyAttributes> | undefined;

/** Checksums of the content that the kernel keeps. They would be wrong for another text. */
const OF_THE_CONTENT: ReadonlySet<string> = new Set(["security.ima", "security.evm"]);

/** Of copyfile.h: `COPYFILE_ACL | COPYFILE_XATTR`. */
const ACL_AND_ATTRIBUTES = (1 << 0) | (1 << 2);

async function load(): Promise<CopyAttributes> {
  try {
    const ffi = await import("bun:ffi");
    return process.platform === "darwin" ? loadFromLibSystem(ffi) : loadFromGlibc(ffi);
  } catch {
    return () => true;
  }
}

function loadFromLibSystem({ dlopen }: Ffi): CopyAttributes {
  const { symbols } = dlopen("libSystem.B.dylib", {
    fcopyfile: { args: ["i32", "i32", "ptr", "u32"], returns: "i32" },
  });
  return (from, to) => symbols.fcopyfile(from, to, null, ACL_AND_ATTRIBUTES) === 0;
}

/** The attribute calls for one open file, on Linux. */
interface Attributes {
  names(): readonly string[];
  get(name: string): Buffer | undefined;
  set(name: string, value: Buffer): boolean;
  remove(name: string): boolean;
}

function loadFromGlibc({ dlopen }: Ffi): CopyAttributes {
  const { symbols } = dlopen("libc.so.6", {
    flistxattr: { args: ["i32", "ptr", "usize"], returns: "i64" },
    fgetxattr: { args: ["i32", "cstring", "ptr", "usize"], returns: "i64" },
    fsetxattr: { args: ["i32", "cstring", "ptr", "usize", "i32"], returns: "i32" },
    fremovexattr: { args: ["i32", "cstring"], returns: "i32" },
  });
  const of = (file: number): Attributes => ({
    names: () =>
      (read((into, size) => symbols.flistxattr(file, into, size)) ?? Buffer.alloc(0))
        .toString()
        .split("\0")
        .filter((name) => name !== "" && !OF_THE_CONTENT.has(name)),
    get: (name) => read((into, size) => symbols.fgetxattr(file, nameOf(name), into, size)),
    set: (name, value) =>
      symbols.fsetxattr(file, nameOf(name), padded(value), value.length, 0) === 0,
    remove: (name) => symbols.fremovexattr(file, nameOf(name)) === 0,
  });
  return (from, to) => copy(of(from), of(to));
}

/** Attributes that the folder's rules gave the new file are removed unless `from` has them. */
function copy(from: Attributes, to: Attributes): boolean {
  const names = from.names();
  const wrong = to.names().filter((name) => !names.includes(name));
  const isGone = wrong.map((name) => to.remove(name));
  const isCopied = names.map((name) => {
    const value = from.get(name);
    if (!value || to.get(name)?.equals(value)) return true;
    return to.set(name, value);
  });
  return [...isGone, ...isCopied].every(Boolean);
}

type Fill = (into: Buffer | null, size: number) => number | bigint;

/** Asks for the length first. Undefined where nothing can be read. */
function read(fill: Fill): Buffer | undefined {
  const length = Number(fill(null, 0));
  if (length < 0) return undefined;
  const into = padded(Buffer.alloc(length));
  const filled = length === 0 ? 0 : Number(fill(into, length));
  return filled < 0 ? undefined : into.subarray(0, filled);
}

/** Makes an empty value one byte long, because an empty buffer has no pointer. */
function padded(value: Buffer): Buffer {
  return value.length === 0 ? Buffer.alloc(1) : value;
}

/** A name as a C string. */
function nameOf(name: string): Uint8Array {
  return Buffer.from(`${name}\0`);
}
