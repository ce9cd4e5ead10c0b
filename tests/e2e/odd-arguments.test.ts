import { expect } from "bun:test";
import { scenario } from "../support/lab.ts";

scenario("an empty word names nothing, whatever it was to name", async (lab) => {
  const machine = await lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const refusedAs = async (name: string, ...args: string[]) => {
    const { status, stdout, stderr } = await machine.run(args);
    expect([args, status, stdout, stderr]).toEqual([
      args,
      2,
      "",
      `memsync: ${name} is empty: ${name.startsWith("<") ? "name one" : "say what it is to be"}\n`,
    ]);
  };
  await refusedAs("<id>", "conflicts", "show", "");
  await refusedAs("<version>", "conflicts", "choose", "abcdefgh", "");
  await refusedAs("<b>", "connect", "proj_a", "");
  await refusedAs("<rev>", "doc", "restore", "");
  await refusedAs("<key>", "get", "");
  await refusedAs("<key>", "set", "", "value");
  await refusedAs("<name>", "remote", "rm", "");
  await refusedAs("--wait", "sync", "--wait", "");
  await refusedAs("--id", "link", "--id", "");
  await refusedAs("<file>", "export", "");
  const unknown = await machine.run(["mcp", "--project", ""]);
  expect([unknown.status, unknown.stdout, unknown.stderr]).toEqual([
    2,
    "",
    "memsync: --project is empty: `.` is the current folder\n",
  ]);
  // Whatever an assistant runs goes on.
  expect(await machine.run(["hook", ""])).toMatchObject({ status: 0, stdout: "", stderr: "" });
  await machine.memsync("set", "empty", "", "--layer", "user");
  expect(await machine.memsync("get", "empty")).toBe("");
  // A status that a refusal never has: the empty word came through to the other program.
  const script = "process.exit(40 + process.argv.slice(1).filter((word) => word === '').length)";
  expect((await machine.run(["exec", "--", process.execPath, "-e", script, ""])).status).toBe(41);
});

scenario("what was typed is repeated only as far as one can read it", async (lab) => {
  const machine = await lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const long = "long ".repeat(4096);
  for (const args of [
    ["conflicts", "show", long],
    ["project", "rm", long],
    ["doc", "restore", long],
    [long],
    ["link", long],
  ]) {
    const { stderr } = await machine.run(args);
    expect([args[0]?.slice(0, 9), stderr.length < 1000, stderr.trim() !== ""]).toEqual([
      args[0]?.slice(0, 9),
      true,
      true,
    ]);
  }
});

scenario("a token that is none is said to be what it is", async (lab) => {
  const machine = await lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const given = async (stdin: string) => {
    const url = "http://127.0.0.1:9";
    const { stderr } = await machine.run(["login", "--url", url, "--token-stdin"], { stdin });
    return stderr.replaceAll(/\s+/g, " ");
  };
  expect(await given("t".repeat(100_000))).toContain("no token: it is longer than 512 characters");
  expect(await given("to ken")).toContain("no token: it has spaces, lines or what is not ASCII");
});
