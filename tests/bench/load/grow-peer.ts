import * as Y from "yjs";
import { overwrites } from "./grow-load.ts";
import { HocuspocusConnection } from "./hocuspocus-connection.ts";
import { type NoteKind, noteValues } from "./note-values.ts";

/** What a run of this program prints. */
export interface GrownPeer {
  /** Bytes of the keys and values that the document ends with. */
  readonly liveBytes: number;
}

/** One of the two writers: a replica of the peer's document, and a socket. */
class PeerWriter {
  readonly document = new Y.Doc();
  #update: Uint8Array = new Uint8Array();

  private constructor(readonly connection: HocuspocusConnection) {
    this.document.on("update", (update: Uint8Array) => {
      this.#update = update;
    });
  }

  static async open(url: string, token: string, name: string): Promise<PeerWriter> {
    return new PeerWriter(await HocuspocusConnection.open(url, token, name));
  }

  /** Resolves to the update of one overwrite when the server has acknowledged it. */
  async write(key: string, value: string): Promise<Uint8Array> {
    this.document.getMap("memories").set(key, value);
    await this.connection.push(this.connection.updateFrame(this.#update));
    return this.#update;
  }
}

// The overwrites that grow a home, by two writers of one Hocuspocus document: a map of its keys.
const [url = "", token = "", name = "", kind = "real", writes = "0"] = process.argv.slice(2);
const one = await PeerWriter.open(url, token, name);
const other = await PeerWriter.open(url, token, name);
for (const { key, value, isOther } of overwrites(noteValues(kind as NoteKind), Number(writes))) {
  const [writer, reader] = isOther ? [other, one] : [one, other];
  Y.applyUpdate(reader.document, await writer.write(key, value));
}
let liveBytes = 0;
for (const [key, value] of one.document.getMap<string>("memories")) {
  liveBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
}
for (const { connection } of [one, other]) connection.close();
process.stdout.write(`${JSON.stringify({ liveBytes } satisfies GrownPeer)}\n`);
