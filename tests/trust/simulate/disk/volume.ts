import { basename, dirname } from "node:path";
import type { Dice } from "../dice.ts";

/** A file or folder, apart from its names. */
export interface Inode {
  readonly number: number;
  readonly folder: boolean;
  /** How many names lead to it, those that are on no volume of ours counted. */
  links: number;
  bytes: Buffer;
  /** What a power cut leaves. */
  flushed: Buffer;
  mode: number;
  modifiedAt: number;
}

/**
 * Hears what a program has put where a name leads: as a whole, or into the file that is there, of
 * which each step but the last leaves a part of another text behind it.
 */
export type OnPut = (path: string, text: string, how: "whole" | "in part" | "in place") => void;

/** An error as the operating system gives it. */
export class DiskError extends Error {
  constructor(
    readonly code: string,
    path: string,
  ) {
    super(`${code}: ${path}`);
  }
}

const FILE_MODE = 0o644;
/** One in so many of the files that people make has a second name elsewhere. */
const LINKED_EVERY = 4;

/**
 * One machine's folders, in memory: what was written is lost in a power cut until it is flushed,
 * and so is a name until its folder is.
 */
export class Volume {
  readonly #root: string;
  readonly #dice: Dice;
  readonly #now: () => number;
  readonly #onPut: OnPut;
  /** Lets the process that works on the volume wait, as a disk does. */
  pause: () => Promise<void> = () => Promise.resolve();
  /** This many of the next writes fail. */
  failing = 0;
  #names = new Map<string, Inode>();
  #flushedNames = new Map<string, Inode>();
  #inodes = 0;

  /** `onPut` hears what a program, and no person, has put where a name leads. */
  constructor(root: string, dice: Dice, now: () => number, onPut: OnPut) {
    this.#root = root;
    this.#dice = dice;
    this.#now = now;
    this.#onPut = onPut;
    this.makeFolder(root);
    this.flushFolder(dirname(root));
  }

  /** What the machine's clock shows. */
  get now(): number {
    return this.#now();
  }

  holds(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}/`);
  }

  find(path: string): Inode | undefined {
    return this.#names.get(path);
  }

  get(path: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw new DiskError("ENOENT", path);
    return inode;
  }

  namesIn(folder: string): string[] {
    return [...this.#names.keys()]
      .filter((path) => dirname(path) === folder)
      .map((path) => basename(path));
  }

  /** Of all files in a folder and in those below it. */
  pathsIn(folder: string): string[] {
    return [...this.#names]
      .filter(([path, inode]) => path.startsWith(`${folder}/`) && !inode.folder)
      .map(([path]) => path);
  }

  makeFolder(path: string): void {
    if (!this.#names.has(path)) this.#names.set(path, this.#inode(true));
  }

  create(path: string, mode = FILE_MODE): Inode {
    this.#write(path);
    if (this.#names.has(path)) throw new DiskError("EEXIST", path);
    if (!this.#names.has(dirname(path))) throw new DiskError("ENOENT", path);
    const inode = this.#inode(false);
    inode.mode = mode;
    this.#names.set(path, inode);
    return inode;
  }

  write(inode: Inode, bytes: Buffer): void {
    this.#write("a file");
    inode.bytes = bytes;
    inode.modifiedAt = this.#now();
  }

  /** What stood behind it stays. */
  writeAt(inode: Inode, bytes: Buffer, at: number): void {
    const size = Math.max(inode.bytes.length, at + bytes.length);
    const written = Buffer.concat([inode.bytes], size);
    bytes.copy(written, at);
    this.#writeInPlace(inode, written, "in part");
  }

  truncate(inode: Inode, length: number): void {
    this.#writeInPlace(inode, Buffer.concat([inode.bytes], length), "in place");
  }

  #writeInPlace(inode: Inode, bytes: Buffer, how: "in part" | "in place"): void {
    this.write(inode, bytes);
    for (const [path, each] of this.#names) {
      if (each === inode) this.#onPut(path, bytes.toString(), how);
    }
  }

  /** A person's program saves into a file that it has opened; that is flushed, and never fails. */
  writeByPerson(inode: Inode, bytes: Buffer): void {
    inode.bytes = bytes;
    inode.flushed = bytes;
    inode.modifiedAt = this.#now();
  }

  /** The same into a new file that takes the name. */
  putByPerson(path: string, bytes: Buffer): void {
    const inode = this.#inode(false);
    if (inode.number % LINKED_EVERY === 0) inode.links = 2;
    this.writeByPerson(inode, bytes);
    this.#names.set(path, inode);
  }

  rename(from: string, to: string): void {
    this.#write(to);
    this.#put(to, this.get(from));
    this.#names.delete(from);
  }

  /** A person gives a folder, with all that is in it, another name at once. */
  moveFolder(from: string, to: string): void {
    const moved = (names: Map<string, Inode>) =>
      new Map(
        [...names].map(([path, inode]) => {
          const isInside = path === from || path.startsWith(`${from}/`);
          return [isInside ? to + path.slice(from.length) : path, inode];
        }),
      );
    this.get(from);
    this.#names = moved(this.#names);
    this.#flushedNames = moved(this.#flushedNames);
  }

  swap(one: string, other: string): boolean {
    const [first, second] = [this.find(one), this.find(other)];
    if (!first || !second) return false;
    this.#write(other);
    this.#put(other, first);
    this.#names.set(one, second);
    return true;
  }

  link(from: string, to: string): void {
    this.#write(to);
    if (this.#names.has(to)) throw new DiskError("EEXIST", to);
    this.#put(to, this.get(from));
  }

  remove(path: string): void {
    this.get(path);
    this.#names.delete(path);
  }

  flush(inode: Inode): void {
    if (inode.folder) {
      for (const [path, each] of this.#names) if (each === inode) this.flushFolder(path);
    } else inode.flushed = inode.bytes;
  }

  flushFolder(folder: string): void {
    for (const path of this.#flushedNames.keys()) {
      if (dirname(path) === folder && !this.#names.has(path)) this.#flushedNames.delete(path);
    }
    for (const [path, inode] of this.#names) {
      if (dirname(path) === folder) this.#flushedNames.set(path, inode);
    }
  }

  /** Of what was not flushed, each folder's names and each file's bytes are there or not. */
  cutPower(): void {
    const folders = new Set([...this.#names.keys(), ...this.#flushedNames.keys()].map(dirname));
    for (const folder of folders) if (this.#dice.chance(0.5)) this.flushFolder(folder);
    this.#names = new Map(this.#flushedNames);
    for (const inode of this.#names.values()) {
      if (this.#dice.chance(0.5)) inode.flushed = inode.bytes;
      else if (inode.links > 1) this.#mix(inode);
      else inode.bytes = inode.flushed;
    }
  }

  /** A file that was written in its place has its bytes on the disk or its length, or neither. */
  #mix(inode: Inode): void {
    const [length, hasBytes] = [inode.flushed.length, this.#dice.chance(0.5)];
    if (hasBytes) inode.flushed = Buffer.concat([inode.bytes], length);
    inode.bytes = inode.flushed;
  }

  #put(path: string, inode: Inode): void {
    this.#names.set(path, inode);
    this.#onPut(path, inode.bytes.toString(), "whole");
  }

  #write(path: string): void {
    if (this.failing === 0) return;
    this.failing -= 1;
    throw new DiskError("ENOSPC", path);
  }

  #inode(folder: boolean): Inode {
    const empty = Buffer.alloc(0);
    return {
      number: ++this.#inodes,
      folder,
      links: 1,
      bytes: empty,
      flushed: empty,
      mode: FILE_MODE,
      modifiedAt: this.#now(),
    };
  }
}
