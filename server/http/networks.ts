import { isIPv6 } from "node:net";

const ADDRESS_BITS = 128;
const IPV4_BITS = 32;

/** Compiled once, since it is used for each request: Bun's `isIPv4` takes ten times as long. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** IPv4 addresses are kept as IPv6 ones behind this: RFC 4291, section 2.5.5.2. */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** An address of either family as 16 bytes. */
type Address = readonly number[];

/** All addresses that share their first `bits` with `address`. */
interface Network {
  readonly address: Address;
  readonly bits: number;
}

/** Networks of both families. */
export class Networks {
  readonly #networks: readonly Network[];

  /** Throws one sentence for a text that is neither an address nor a network. */
  constructor(texts: readonly string[]) {
    this.#networks = texts.map(parseNetwork);
  }

  get isEmpty(): boolean {
    return this.#networks.length === 0;
  }

  /** False for what is no address. */
  include(text: string): boolean {
    const address = parseAddress(text);
    return address !== undefined && this.#networks.some((network) => isIn(address, network));
  }
}

/**
 * The one way to write an address that has several: IPv4 where an IPv6 address stands for one,
 * IPv6 as RFC 5952 has it, without a zone. Undefined for what is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  if (IPV4.test(text)) return text;
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  if (isMapped(address)) return address.slice(MAPPED.length).join(".");
  const groups = Array.from({ length: 8 }, (_, at) => groupAt(address, at).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

function parseNetwork(text: string): Network {
  const [, written = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = written.includes("%") ? undefined : parseAddress(written);
  const offset = IPV4.test(written) ? ADDRESS_BITS - IPV4_BITS : 0;
  const bits = length === undefined ? ADDRESS_BITS : Number(length) + offset;
  if (address === undefined || bits > ADDRESS_BITS) {
    throw new Error(`"${text}" is neither an address nor a network such as 10.0.0.0/8`);
  }
  const isEveryAddress = bits === 0 || (bits === 8 * MAPPED.length && isMapped(address));
  if (isEveryAddress) throw new Error(`"${text}" is every address, so anybody could forge theirs`);
  if (!isIn(address, { address: firstOf(address, bits), bits: ADDRESS_BITS })) {
    throw new Error(`"${text}" has bits behind its prefix; name the network's first address`);
  }
  return { address, bits };
}

function parseAddress(text: string): Address | undefined {
  if (IPV4.test(text)) return [...MAPPED, ...text.split(".").map(Number)];
  if (!isIPv6(text)) return undefined;
  const [before = "", after] = text.replace(/%.*$/, "").split("::");
  const head = bytesOf(before);
  const tail = bytesOf(after ?? "");
  return [...head, ...Array(ADDRESS_BITS / 8 - head.length - tail.length).fill(0), ...tail];
}

/** Of the groups of an IPv6 address, the last of which may be an IPv4 address. */
function bytesOf(groups: string): number[] {
  if (groups === "") return [];
  return groups.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function groupAt(address: Address, at: number): number {
  return ((address[2 * at] ?? 0) << 8) | (address[2 * at + 1] ?? 0);
}

function isMapped(address: Address): boolean {
  return MAPPED.every((byte, at) => address[at] === byte);
}

/** The first address of the network of that length. */
function firstOf(address: Address, bits: number): Address {
  return address.map((byte, at) => byte & maskAt(at, bits));
}

function maskAt(byteAt: number, bits: number): number {
  const kept = Math.min(8, Math.max(0, bits - 8 * byteAt));
  return (0xff << (8 - kept)) & 0xff;
}

function isIn(address: Address, { address: first, bits }: Network): boolean {
  return address.every((byte, at) => (byte & maskAt(at, bits)) === first[at]);
}
