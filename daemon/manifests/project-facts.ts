import { isObject } from "../../shared/json.ts";
/** What a project's manifests say of it; see `language` and `framework` of the interface. */
export interface ProjectFacts {
  readonly language?: string;
  readonly framework?: string;
}

/** Reads a file of the project's folder; undefined: there is none, or it is no text. */
export type ReadManifest = (name: string) => Promise<string | undefined>;

/** Names of packages, each with the framework that it is; the first that is used counts. */
type Frameworks = readonly (readonly [name: string, framework: string])[];

interface Manifest {
  readonly names: readonly string[];
  readonly language: string | ((text: string, read: ReadManifest) => Promise<string>);
  readonly frameworks: Frameworks;
  /** Whether a manifest names a package among those that the project needs to run. */
  readonly uses: (text: string, name: string) => boolean;
}

const NODE: Frameworks = [
  ["next", "Next.js"],
  ["nuxt", "Nuxt"],
  ["@angular/core", "Angular"],
  ["@sveltejs/kit", "SvelteKit"],
  ["@remix-run/react", "Remix"],
  ["astro", "Astro"],
  ["gatsby", "Gatsby"],
  ["react-native", "React Native"],
  ["svelte", "Svelte"],
  ["vue", "Vue"],
  ["react", "React"],
  ["@nestjs/core", "NestJS"],
  ["elysia", "Elysia"],
  ["hono", "Hono"],
  ["fastify", "Fastify"],
  ["koa", "Koa"],
  ["express", "Express"],
];

/** No manifest is more right than another, but a `package.json` beside one may be for tools. */
const MANIFESTS: readonly Manifest[] = [
  {
    names: ["pyproject.toml", "requirements.txt", "setup.py"],
    language: "Python",
    frameworks: [
      ["django", "Django"],
      ["fastapi", "FastAPI"],
      ["flask", "Flask"],
    ],
    uses: usesPython,
  },
  {
    names: ["Cargo.toml"],
    language: "Rust",
    frameworks: [
      ["tauri", "Tauri"],
      ["leptos", "Leptos"],
      ["axum", "Axum"],
      ["actix-web", "Actix Web"],
      ["rocket", "Rocket"],
      ["bevy", "Bevy"],
    ],
    uses: (text, name) => new RegExp(`^\\s*${name}\\s*[=.]`, "m").test(text),
  },
  {
    names: ["go.mod"],
    language: "Go",
    frameworks: [
      ["github.com/gin-gonic/gin", "Gin"],
      ["github.com/labstack/echo", "Echo"],
      ["github.com/gofiber/fiber", "Fiber"],
      ["github.com/go-chi/chi", "chi"],
    ],
    uses: (text, name) =>
      text.split("\n").some((line) => line.includes(name) && !/\/\/\s*indirect/.test(line)),
  },
  {
    names: ["Gemfile"],
    language: "Ruby",
    frameworks: [
      ["rails", "Rails"],
      ["sinatra", "Sinatra"],
    ],
    uses: (text, name) => new RegExp(`^\\s*gem\\s+["']${name}["']`, "m").test(text),
  },
  {
    names: ["composer.json"],
    language: "PHP",
    frameworks: [
      ["laravel/framework", "Laravel"],
      ["symfony/framework-bundle", "Symfony"],
    ],
    uses: (text, name) => hasKey(text, "require", name),
  },
  {
    names: ["mix.exs"],
    language: "Elixir",
    frameworks: [["phoenix", "Phoenix"]],
    uses: (text, name) => new RegExp(`\\{:${name}\\s*,`).test(text),
  },
  {
    names: ["pubspec.yaml"],
    language: "Dart",
    frameworks: [["flutter", "Flutter"]],
    uses: (text, name) => new RegExp(`^\\s+${name}:\\s*$`, "m").test(text),
  },
  { names: ["Package.swift"], language: "Swift", frameworks: [], uses: () => false },
];

const PACKAGE_JSON: Manifest = {
  names: ["package.json"],
  language: async (text, read) => {
    const isTyped = hasKey(text, "devDependencies", "typescript");
    const isTypeScript = isTyped || (await read("tsconfig.json")) !== undefined;
    return isTypeScript ? "TypeScript" : "JavaScript";
  },
  frameworks: NODE,
  uses: (text, name) =>
    hasKey(text, "dependencies", name) ||
    // What is built away is often a dependency of development alone.
    (BUILT_AWAY.has(name) && hasKey(text, "devDependencies", name)),
};

const BUILT_AWAY: ReadonlySet<string> = new Set(["@sveltejs/kit", "svelte", "astro"]);

/**
 * The language and framework of a project, where its manifests leave no doubt. A project in several
 * languages has none; a `package.json` beside another manifest is taken for its tools.
 *
 * ```
 * await readProjectFacts(read); // { language: "Rust", framework: "Axum" }
 * ```
 */
export async function readProjectFacts(read: ReadManifest): Promise<ProjectFacts> {
  const found: (readonly [Manifest, string])[] = [];
  for (const manifest of MANIFESTS) {
    const text = await firstOf(manifest.names, read);
    if (text !== undefined) found.push([manifest, text]);
  }
  if (found.length === 0) {
    const text = await read("package.json");
    if (text !== undefined && isObject(parsed(text))) found.push([PACKAGE_JSON, text]);
  }
  const [only, ...others] = found;
  if (!only || others.length > 0) return {};
  const [{ language, frameworks, uses }, text] = only;
  const framework = frameworks.find(([name]) => uses(text, name))?.[1];
  return {
    language: typeof language === "string" ? language : await language(text, read),
    ...(framework !== undefined && { framework }),
  };
}

async function firstOf(names: readonly string[], read: ReadManifest): Promise<string | undefined> {
  const texts: string[] = [];
  for (const name of names) {
    const text = await read(name);
    if (text !== undefined) texts.push(text);
  }
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** In a list as `"django>=5"`, on a line of requirements, or as a key of Poetry's. */
function usesPython(text: string, name: string): boolean {
  const named = new RegExp(`^\\s*["']?${name}(\\[[^\\]]*\\])?\\s*(["']?\\s*$|[<>=~!].*$)`, "i");
  return text.split(/\n|,|\[(?!\w)/).some((part) => named.test(part.replace(/#.*$|\]\s*$/, "")));
}

function hasKey(text: string, section: string, name: string): boolean {
  const manifest = parsed(text);
  const packages = isObject(manifest) ? manifest[section] : undefined;
  return isObject(packages) && Object.hasOwn(packages, name);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
