import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: Vitest takes nothing else.
export default defineConfig({ test: { include: ["twenty-tests-*.mjs"] } });
