import { describe, expect, test } from "bun:test";
import { clientAddress } from "../../server/http/client-address.ts";
import { canonicalAddress, Networks } from "../../server/http/networks.ts";
import { startServer } from "../support/http-server.ts";
import { shakeHands } from "../support/live-handshake.ts";

describe("networks", () => {
  const include = (network: string, addresses: readonly string[]) =>
    addresses.map((address) => new Networks([network]).include(address));

  test("networks hold their addresses and no others, in either family", () => {
    expect(include("10.1.2.3", ["10.1.2.3", "10.1.2.4", "::ffff:10.1.2.3"])).toEqual([
      true,
      false,
      true,
    ]);
    const rows: readonly (readonly [string, string, string])[] = [
      ["10.0.0.0/8", "10.255.0.1", "11.0.0.0"],
      ["172.16.0.0/12", "172.31.255.255", "172.32.0.0"],
      ["192.0.2.128/25", "192.0.2.128", "192.0.2.127"],
      ["192.0.2.7/32", "192.0.2.7", "192.0.2.6"],
      ["2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"],
      ["fe80::/10", "fe80::1%eth0", "fec0::1"],
      ["::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.0"],
      ["::1", "0:0::1", "::2"],
    ];
    for (const [network, inside, outside] of rows) {
      expect([network, include(network, [inside, outside])]).toEqual([network, [true, false]]);
    }
    expect(include("10.0.0.0/8", ["", "10.1", "unknown", "::", "10.0.0.0/8"])).not.toContain(true);
  });

  test("networks that are mistyped, or that are everything, are refused", () => {
    const wrong = ["", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8"];
    for (const text of [...wrong, "::1/129", "fe80::1%eth0", "proxy.example", "[::1]"]) {
      expect(() => new Networks([text])).toThrow("neither an address nor a network");
    }
    for (const text of ["0.0.0.0/0", "::/0", "::ffff:0:0/96", "10.0.0.0/0"]) {
      expect(() => new Networks([text])).toThrow("is every address");
    }
    for (const text of ["10.0.0.1/8", "2001:db8::1/32", "192.0.2.129/25"]) {
      expect(() => new Networks([text])).toThrow("bits behind its prefix");
    }
  });

  test("networks and addresses are written in one way", () => {
    const written = ["::FFFF:192.0.2.7", "2001:DB8:0:0:0:0:0:1", "fe80::1%eth0", "192.0.2.7"];
    expect(written.map(canonicalAddress)).toEqual([
      "192.0.2.7",
      "2001:db8::1",
      "fe80::1",
      "192.0.2.7",
    ]);
    expect(["", "a", "1.2.3", "1.2.3.4:5"].map(canonicalAddress)).toEqual(Array(4).fill(undefined));
  });
});

describe("a client's address", () => {
  const trusted = new Networks(["10.0.0.0/8", "2001:db8::/32"]);
  const of = (address: string, forwarded?: string, proxies: Networks = trusted) => {
    const headers = new Headers(forwarded === undefined ? {} : { "X-Forwarded-For": forwarded });
    return clientAddress(headers, () => ({ address, port: 1 }), proxies);
  };

  test("a client's address is its socket's, whatever it says, unless that is a trusted proxy", () => {
    expect(of("192.0.2.7", "198.51.100.1")).toBe("192.0.2.7");
    expect(of("10.0.0.1", "198.51.100.1", new Networks([]))).toBe("10.0.0.1");
    expect(of("::ffff:192.0.2.7")).toBe("192.0.2.7");
    expect(clientAddress(new Headers(), () => undefined, trusted)).toBeUndefined();
    expect(clientAddress(new Headers(), undefined, trusted)).toBeUndefined();
    const forwarded = new Headers({ "X-Forwarded-For": "198.51.100.1" });
    expect(clientAddress(forwarded, () => ({ address: "10.0.0.1", port: 1 }), undefined)).toBe(
      "10.0.0.1",
    );
  });

  test("a client's address is the last that no trusted proxy has", () => {
    expect(of("10.0.0.1", "198.51.100.1")).toBe("198.51.100.1");
    expect(of("::ffff:10.0.0.1", "198.51.100.1")).toBe("198.51.100.1");
    expect(of("10.0.0.1", "203.0.113.9, 198.51.100.1")).toBe("198.51.100.1");
    expect(of("10.0.0.1", "203.0.113.9,198.51.100.1, 10.2.3.4,2001:db8::5")).toBe("198.51.100.1");
    expect(of("10.0.0.1", "10.9.9.9, 10.2.3.4")).toBe("10.9.9.9");
    expect(of("10.0.0.1")).toBe("10.0.0.1");
  });

  test("a client's address is whoever passed on what is no address", () => {
    expect(of("10.0.0.1", "198.51.100.1, unknown")).toBe("10.0.0.1");
    expect(of("10.0.0.1", "198.51.100.1, nonsense, 10.2.3.4")).toBe("10.2.3.4");
    expect(of("10.0.0.1", "198.51.100.1, ")).toBe("10.0.0.1");
  });

  test("a client's address may come with a port", () => {
    expect(of("10.0.0.1", "198.51.100.1:5678")).toBe("198.51.100.1");
    expect(of("10.0.0.1", "[2001:db9::1]:5678")).toBe("2001:db9::1");
    expect(of("10.0.0.1", "[2001:db9::1]")).toBe("2001:db9::1");
  });

  test("a client's address decides whose guesses wait, at both doors", async () => {
    for (const trustedProxies of [new Networks(["127.0.0.1"]), new Networks([])]) {
      const guessers: (string | undefined)[] = [];
      await using server = await startServer({
        trustedProxies,
        guessed: async (client) => void guessers.push(client),
      });
      const headers = { "X-Forwarded-For": "203.0.113.9, 198.51.100.1" };
      await server.send("GET", "/v1/memories", { token: "guess", headers });
      await shakeHands(server.listener.url, "guess", headers);
      const told = trustedProxies.isEmpty ? "127.0.0.1" : "198.51.100.1";
      expect(guessers).toEqual([told, told]);
    }
  });
});
