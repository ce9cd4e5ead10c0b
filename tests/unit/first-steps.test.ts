import { expect, test } from "bun:test";
import { loginAt } from "../../cli/server/first-steps.ts";

const MACHINE = { name: "desk", addresses: ["192.168.1.5", "10.0.0.7"] };

/** Of the advice what is typed, and what is said of it. */
function advice(url: string, ...allowedHosts: readonly string[]): string[] {
  const { who, url: typed, remark = "" } = loginAt({ url, allowedHosts }, MACHINE);
  return [who, typed, remark];
}

test("an address that leads to every machine's own self is told to nobody else", () => {
  for (const url of ["http://127.0.0.1:4777", "http://localhost:4777", "http://[::1]:4777"]) {
    expect(advice(url)).toEqual([
      "on this machine",
      url,
      expect.stringContaining("--host 0.0.0.0"),
    ]);
  }
});

test("behind a proxy, machines are told the proxy's name", () => {
  const [who, url] = advice("http://127.0.0.1:4777", "memory.example.com", "other.example.com");
  expect([who, url]).toEqual([
    "on each machine, by way of the proxy",
    "https://memory.example.com",
  ]);
});

test("of a server on all addresses, machines are told some that lead there", () => {
  for (const host of ["0.0.0.0", "[::]"]) {
    const [, url, remark] = advice(`http://${host}:4777`);
    expect(url).toBe("http://desk:4777");
    expect(remark).toContain("such as 192.168.1.5, 10.0.0.7; tokens go there unencrypted");
  }
});

test("an address of this machine alone is told as it is", () => {
  expect(advice("http://192.168.1.5:80")).toEqual([
    "on each machine",
    "http://192.168.1.5:80",
    expect.stringContaining("unencrypted"),
  ]);
});
