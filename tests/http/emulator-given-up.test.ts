import { expect, test } from "bun:test";
import { connect } from "node:net";
import { controlled } from "../support/emulator-calls.ts";
import { newAccount } from "../support/service.ts";

const HANDSHAKE = [
  ["Upgrade", "websocket"],
  ["Connection", "Upgrade"],
  ["Sec-WebSocket-Version", "13"],
  ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
];

interface Seen {
  readonly aborted?: true;
  readonly status?: number;
  readonly closed?: object;
}

for (const effect of [{ latency_ms: 60_000 }, { silent: true }]) {
  for (const end of ["end", "destroy", "resetAndDestroy"] as const) {
    test(`a live handshake given up by ${end} is told as such, with ${JSON.stringify(effect)}`, async () => {
      const account = newAccount();
      const { token, url } = account;
      await controlled(account, "POST faults", { token, path: "/api/live", ...effect });
      const { hostname, port, host } = new URL(url);
      const socket = connect(Number(port), hostname);
      const headers = [["Host", host], ["Authorization", `Bearer ${token}`], ...HANDSHAKE];
      const lines = headers.map((header) => header.join(": "));
      socket.write(`GET /api/live HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      const came = `GET requests?token=${token}&wait_ms=20000&path=/api/live`;
      await controlled(account, came);
      socket[end]();
      const path = `GET requests?token=${token}&wait_ms=5000&close_code=1006`;
      const { requests } = await controlled<{ requests: Seen[] }>(account, path);
      expect(requests[0]).toMatchObject({ aborted: true, closed: { code: 1006, by: "client" } });
      expect(requests[0]).not.toHaveProperty("status");
    });
  }
}
