import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./source-tree.ts";

/** A module that breaks each rule on which the house style relies, by the rule's name. */
const SAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  noConsole: { "a.ts": 'console.log("a");' },
  noDefaultExport: { "a.ts": "export default 1;" },
  noExcessiveLinesPerFile: { "a.ts": "export const a = 1;\n".repeat(501) },
  noExcessiveLinesPerFunction: {
    "a.ts": `export function a(b: number[]) {\n${"  b.push(1);\n".repeat(71)}}`,
  },
  noExplicitAny: { "a.ts": "export const a: any = 1;" },
  noFloatingPromises: { "a.ts": "async function a() {}\nexport function b() {\n  a();\n}" },
  noFocusedTests: { "a.test.ts": 'test.only("a is b", () => {});' },
  noImportCycles: {
    "a.ts": 'import { b } from "./b.ts";\nexport const a = () => b;',
    "b.ts": 'import { a } from "./a.ts";\nexport const b = () => a;',
  },
  noNonNullAssertion: { "a.ts": "export const a = (b?: string) => b!.length;" },
  noSkippedTests: { "a.test.ts": 'test.skip("a is b", () => {});' },
  noTsIgnore: { "a.ts": "// @ts-".concat('ignore\nexport const a: number = "b";') },
  noUndeclaredDependencies: { "a.ts": 'import { a } from "left-pad";\nexport const b = a;' },
  noUnusedImports: { "a.ts": 'import { join } from "node:path";\nexport const a = 1;' },
  noUnusedVariables: { "a.ts": "const a = 1;\nexport const b = 2;" },
  organizeImports: {
    "a.ts": 'import { join } from "node:path";\nimport { stat } from "node:fs";\n\nstat(join());\n',
  },
  useFilenamingConvention: { "aB.ts": "export const a = 1;" },
  useImportType: { "a.ts": 'import { Stats } from "node:fs";\nexport type A = Stats;' },
  useNodejsImportProtocol: { "a.ts": 'import { join } from "path";\nexport const a = join;' },
};

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "memsync-lint-"));
  const config = await Bun.file(join(ROOT, "biome.json")).json();
  const schema = join(ROOT, "node_modules/@biomejs/biome/configuration_schema.json");
  const sampleConfig = { ...config, $schema: schema, vcs: { enabled: false }, root: true };
  for (const [rule, files] of Object.entries(SAMPLES)) {
    await Bun.write(join(folder, rule, "biome.json"), JSON.stringify(sampleConfig));
    await Bun.write(join(folder, rule, "package.json"), "{}");
    for (const [path, text] of Object.entries(files)) {
      await Bun.write(join(folder, rule, path), text);
    }
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

for (const rule of Object.keys(SAMPLES)) {
  test(`the linter refuses what breaks ${rule}`, async () => {
    const biome = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
    const linter = Bun.spawn([process.execPath, biome, "check", "--error-on-warnings", "."], {
      cwd: join(folder, rule),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const outputs = await Promise.all([linter.stdout.text(), linter.stderr.text()]);
    expect(outputs.join("")).toContain(`/${rule} `);
    expect(await linter.exited).toBe(1);
  });
}
