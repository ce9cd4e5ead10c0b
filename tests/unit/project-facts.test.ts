import { expect, test } from "bun:test";
import { readProjectFacts } from "../../daemon/manifests/project-facts.ts";

function factsOf(files: Readonly<Record<string, string>>) {
  return readProjectFacts(async (name) => files[name]);
}

const json = (value: object) => JSON.stringify(value);

test("a manifest tells the language, and the framework that is needed to run", async () => {
  const next = json({ dependencies: { react: "19", next: "16" } });
  expect(await factsOf({ "package.json": next })).toEqual({
    language: "JavaScript",
    framework: "Next.js",
  });
  expect(await factsOf({ "package.json": next, "tsconfig.json": "{}" })).toMatchObject({
    language: "TypeScript",
  });
  expect(await factsOf({ "Cargo.toml": '[dependencies]\naxum = "0.8"\n' })).toEqual({
    language: "Rust",
    framework: "Axum",
  });
  expect(await factsOf({ "go.mod": "require (\n\tgithub.com/gin-gonic/gin v1.9\n)\n" })).toEqual({
    language: "Go",
    framework: "Gin",
  });
  expect(await factsOf({ Gemfile: 'source "x"\ngem "rails", "~> 8"\n' })).toEqual({
    language: "Ruby",
    framework: "Rails",
  });
  const laravel = json({ require: { "laravel/framework": "^12" } });
  expect(await factsOf({ "composer.json": laravel })).toEqual({
    language: "PHP",
    framework: "Laravel",
  });
  expect(await factsOf({ "mix.exs": 'defp deps, do: [{:phoenix, "~> 1.8"}]' })).toEqual({
    language: "Elixir",
    framework: "Phoenix",
  });
});

test("Python's packages are found in each of their forms, and in no description", async () => {
  for (const text of [
    '[project]\ndependencies = ["django>=5", "psycopg"]\n',
    '[project]\ndependencies = [\n  "Django[argon2] >= 5",\n]\n',
    '[tool.poetry.dependencies]\ndjango = "^5"\n',
  ]) {
    expect(await factsOf({ "pyproject.toml": text })).toEqual({
      language: "Python",
      framework: "Django",
    });
  }
  expect(await factsOf({ "requirements.txt": "# flask\nfastapi\n" })).toMatchObject({
    framework: "FastAPI",
  });
  for (const text of [
    'description = "unlike django, small"\n',
    'x = ["django-stubs"]\n',
    "# django",
  ]) {
    expect(await factsOf({ "pyproject.toml": text })).toEqual({ language: "Python" });
  }
});

test("where manifests leave a doubt, nothing is said", async () => {
  expect(await factsOf({})).toEqual({});
  expect(await factsOf({ "go.mod": "", "Cargo.toml": "" })).toEqual({});
  expect(await factsOf({ "package.json": "{ not json" })).toEqual({});
  expect(await factsOf({ "package.json": "[]" })).toEqual({});
  const tools = json({ devDependencies: { express: "5", typescript: "6" } });
  expect(await factsOf({ "package.json": tools })).toEqual({ language: "TypeScript" });
  expect(await factsOf({ "package.json": tools, Gemfile: "" })).toEqual({ language: "Ruby" });
  const indirect = "require github.com/gin-gonic/gin v1 // indirect\n";
  expect(await factsOf({ "go.mod": indirect })).toEqual({ language: "Go" });
});
