"use strict";
// A small client, as you may have one: what it is worth shows when the service misbehaves.
const { randomUUID } = require("node:crypto");
const { setTimeout: delay } = require("node:timers/promises");
const { WebSocket } = require("ws");

const TRIES_MAX = 4;
const RECONNECT_MS = 1000;

exports.NotesClient = class NotesClient {
  /** `wait` takes milliseconds; tests hand one over that takes no time. */
  constructor({ wait = delay, patienceMs = 10_000 } = {}) {
    this.url = process.env.MEMSYNC_URL;
    this.token = process.env.MEMSYNC_TOKEN;
    this.wait = wait;
    this.patienceMs = patienceMs;
  }

  /** Writes a note, once, however often it has to be sent. */
  add(content) {
    return this.ask("POST", "/v1/memories", { layer: "user", content });
  }

  /** All notes, page by page. */
  async *all(limit = 100) {
    for (let cursor = ""; cursor !== null; ) {
      const page = await this.ask("GET", `/v1/memories?layer=user&limit=${limit}${cursor}`);
      yield* page.memories;
      cursor = page.next_cursor === null ? null : `&cursor=${encodeURIComponent(page.next_cursor)}`;
    }
  }

  /**
   * Calls back with all notes whenever somebody may have changed one; gives what ends it. A socket
   * that is cut is opened again. What came meanwhile is read then: a frame may be lost, a note not.
   */
  watch(onNotes) {
    let socket;
    let stopped = false;
    let reading = Promise.resolve();
    const read = async () => {
      const notes = [];
      for await (const note of this.all()) notes.push(note);
      if (!stopped) onNotes(notes);
    };
    const open = () => {
      const headers = { Authorization: `Bearer ${this.token}` };
      socket = new WebSocket(`${this.url.replace(/^http/, "ws")}/api/live`, { headers });
      socket.on("open", () => socket.send(JSON.stringify({ type: "subscribe", project_ids: [] })));
      // Whatever it says, something may be new: also the first frame after a while without any.
      socket.on("message", () => {
        reading = reading.then(read).catch(() => socket.terminate());
      });
      // It is closed then, too.
      socket.on("error", () => {});
      socket.on("close", async () => {
        if (!stopped) await this.wait(RECONNECT_MS);
        if (!stopped) open();
      });
    };
    open();
    return () => {
      stopped = true;
      socket.close();
    };
  }

  async ask(method, path, body) {
    const headers = {
      Authorization: `Bearer ${this.token}`,
      "Content-Type": "application/json",
      // The same each time that it is sent: the service does it once.
      "Idempotency-Key": randomUUID(),
    };
    for (let tries = 1; ; tries++) {
      const response = await fetch(this.url + path, {
        method,
        headers,
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(this.patienceMs),
      }).catch((cut) => {
        if (tries === TRIES_MAX) throw cut;
      });
      if (response?.ok) return await response.json();
      if (response && response.status !== 429 && response.status < 500) {
        throw new Error(`${response.status}: ${await response.text()}`);
      }
      if (tries === TRIES_MAX) throw new Error(`no answer to ${method} ${path}`);
      await this.wait(1000 * Number(response?.headers.get("retry-after") ?? 0));
    }
  }
};
