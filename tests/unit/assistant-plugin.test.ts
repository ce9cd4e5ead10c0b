import { expect, test } from "bun:test";
import { join } from "node:path";
import { assistantsFor } from "../../cli/setup/assistant.ts";
import { stateOf } from "../../cli/setup/settings-text.ts";
import packed from "../../package.json";

const PLUGIN = join(import.meta.dir, "..", "..", "plugin");
const read = (path: string) => Bun.file(join(PLUGIN, path)).text();

test("the plugin has the package's version wherever it names one", async () => {
  const paths = [
    "plugin.json",
    "gemini-extension.json",
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    ".cursor-plugin/plugin.json",
  ];
  for (const path of paths) {
    const { name, version } = JSON.parse(await read(path));
    expect([path, name, version]).toEqual([path, "memsync", packed.version]);
  }
});

test("the plugin has the same entries as `memsync setup` makes", async () => {
  const all = assistantsFor({ userFolder: "/u", platform: "linux", variables: {} });
  const entriesOf = (id: string) =>
    all.find((assistant) => assistant.id === id)?.files.flatMap(({ entries }) => entries) ?? [];
  const files = {
    codex: ["hooks/hooks.json", ".mcp.json"],
    gemini: ["hooks/hooks.json", "gemini-extension.json"],
    cursor: ["hooks/cursor-hooks.json", "cursor-mcp.json"],
  };
  for (const [id, paths] of Object.entries(files)) {
    const texts = await Promise.all(paths.map(read));
    for (const entry of entriesOf(id)) {
      // Codex' own settings are in TOML, and call the table otherwise.
      const keys = entry.keys.map((key) => (key === "mcp_servers" ? "mcpServers" : key));
      const states = texts.map((text) => stateOf(text, "json", { ...entry, keys }));
      expect([id, keys, states.includes("present")]).toEqual([id, keys, true]);
    }
  }
});

test("what a manifest points at is there, and so is the plugin where a marketplace says", async () => {
  for (const path of [".codex-plugin/plugin.json", ".cursor-plugin/plugin.json"]) {
    const { mcpServers, hooks } = JSON.parse(await read(path));
    for (const file of [mcpServers, hooks]) {
      expect(await Bun.file(join(PLUGIN, file)).exists()).toBe(true);
    }
  }
  const claude = JSON.parse(await read("../.claude-plugin/marketplace.json"));
  const codex = JSON.parse(await read("../.agents/plugins/marketplace.json"));
  expect([claude.plugins[0].source, codex.plugins[0].source.path]).toEqual([
    "./plugin",
    "./plugin",
  ]);
});
