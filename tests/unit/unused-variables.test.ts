import { expect, test } from "bun:test";
import { unusedHere } from "../../cli/contact/unused-variables.ts";

const service = { url: "https://memory.example.com", token: null };
const environment = { url: null, has_token: false, gateway_port: null };

test.each<[its: string | null, named: string, codes: string[]]>([
  ["https://memory.example.com", "https://memory.example.com//", []],
  ["https://memory.example.com", "https://Memory.example.com:443/", []],
  ["https://Memory.example.com:443", "https://memory.example.com", []],
  ["https://memory.example.com", "http://memory.example.com", ["daemon-another-service"]],
  ["https://memory.example.com", "https://memory.example.com/team", ["daemon-another-service"]],
  [null, "https://memory.example.com", ["daemon-another-service"]],
  [null, "no address", ["daemon-another-service"]],
])("the daemon of %s and a shell that names %s: told is %j", (its, named, codes) => {
  for (const introduction of [
    { service: { ...service, url: its }, environment },
    { environment: { ...environment, url: its } },
  ]) {
    const notes = unusedHere({ MEMSYNC_URL: named }, introduction);
    expect<string[]>(notes.map(({ code }) => code)).toEqual(codes);
  }
});
