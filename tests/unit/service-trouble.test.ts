import { expect, test } from "bun:test";
import { frameOf } from "../../cli/live/frame.ts";
import { statusOnScreen } from "../../cli/views/status-summary.ts";
import type { DaemonStatus, ServiceStatus } from "../../daemon/status/status.ts";
import { CONNECTED, madeUpProject, madeUpStatus, untoned } from "../support/made-up-status.ts";

type Facts = Pick<ServiceStatus, "state" | "online" | "token_refused">;

/** Each state of a service, and what a screen without room for the status calls it. */
const STATES: readonly (readonly [Facts, string | undefined])[] = [
  [{ state: "connected", online: true, token_refused: false }, undefined],
  [{ state: "asked", online: true, token_refused: false }, undefined],
  [{ state: "connecting", online: true, token_refused: false }, undefined],
  [{ state: "connecting", online: false, token_refused: false }, "connecting: "],
  [{ state: "reconnecting", online: true, token_refused: false }, "reconnecting: "],
  [{ state: "token-refused", online: true, token_refused: true }, "token refused: "],
  [{ state: "busy", online: false, token_refused: false }, "busy: "],
  [{ state: "offline", online: false, token_refused: false }, "offline: "],
  [{ state: "blocked", online: false, token_refused: false }, "blocked: "],
];

/** From one that has room for everything to those that have room for a line of each thing. */
const SCREENS = [undefined, ...[100, 24, 8, 6].flatMap((rows) => sized(rows, [80, 40, 30]))];

function sized(rows: number, columns: readonly number[]) {
  return columns.map((each) => ({ columns: each, rows }));
}

/** Two remotes at one address; the second is in this state, and the projects are bound to it. */
function statusWith(facts: Facts, projects: number): DaemonStatus {
  const status = madeUpStatus(
    Array.from({ length: projects }, (_, at) => madeUpProject(at, { remote: "home" })),
  );
  const [work] = status.remotes;
  if (!work) throw new Error("a made-up status has a remote");
  const service = { ...CONNECTED, ...facts, message: "it said so" };
  return { ...status, remotes: [work, { ...work, name: "home", default: false, service }] };
}

test("no screen says that all is synced while a service tells nothing", () => {
  for (const [facts, word] of STATES) {
    for (const projects of [1, 3, 12, 50]) {
      const { remotes, ...status } = statusWith(facts, projects);
      const one = { ...status, remotes: remotes.filter(({ name }) => name === "home") };
      for (const screen of SCREENS) {
        const where = `${facts.state}, ${projects} at ${JSON.stringify(screen)}`;
        const shown = inOneLine(statusOnScreen(one, {}, screen));
        if (word === undefined) expect(shown, where).toContain("all synced");
        else expect(shown, where).not.toContain("all synced");
        if (word === undefined || !screen) continue;
        expect(inOneLine(frameOf({ ...VIEW, status: one }, screen)), where).not.toContain(
          "all synced",
        );
      }
    }
  }
});

function inOneLine(lines: readonly string[]): string {
  return untoned(lines.join(" ")).replaceAll(/ +/g, " ");
}

const VIEW = {
  standing: { kind: "nowhere" },
  notices: [],
  happened: [],
  now: Date.UTC(2026, 0, 1, 12),
} as const;

test("a screen without room for the status names the remote with which something is wrong", () => {
  for (const [facts, word] of STATES) {
    const status = statusWith(facts, 1);
    for (const columns of [30, 40]) {
      const lines = statusOnScreen(status, {}, { columns, rows: 8 }).map(untoned);
      const shown = word === undefined ? "home https://" : `${word}home`;
      expect(lines.some((line) => line.startsWith(shown))).toBe(true);
      expect(lines.some((line) => line.startsWith("work https://"))).toBe(true);
      expect(lines).toContain(word === undefined ? "all synced" : "nothing waiting");
    }
  }
});

test("at 80x24 and 40x24 several remotes have their lines, also of two at one address", () => {
  const status = statusWith({ state: "token-refused", online: true, token_refused: true }, 9);
  const minute = { limit: 60, remaining: 30, resets_at: "2026-01-01T00:02:00.000Z" };
  const remotes = ["third", "fourth"].flatMap((name) => {
    return status.remotes.slice(0, 1).map((remote) => ({ ...remote, name, default: false }));
  });
  const all = [...status.remotes, ...remotes].map((remote) => {
    const requests = { minute, day: minute };
    return { ...remote, service: { ...remote.service, requests } };
  });
  for (const columns of [80, 40]) {
    const lines = statusOnScreen({ ...status, remotes: all }, {}, { columns, rows: 24 });
    const shown = inOneLine(lines);
    expect(lines.length).toBeLessThanOrEqual(21);
    expect(shown).toContain("remote work (default) https://memory.example.com connected");
    expect(shown).toContain("remote home https://memory.example.com refuses the token");
    expect(shown).toContain("remote third https://memory.example.com connected");
    expect(shown).toMatch(/9 projects|project 8/);
  }
});
