import { messageOf } from "../../../shared/errors.ts";
import type { Lab } from "../../support/lab.ts";
import { CLAUDE, OPENCODE } from "./claude-dialect.ts";
import { CODEX } from "./codex-dialect.ts";
import { GEMINI } from "./gemini-dialect.ts";
import { type AssistantName, NAMES, NotTried, soon, User } from "./installed.ts";
import { type Dialect, ModelStandIn, type Step } from "./stand-in.ts";

/** Somebody with a clone, a home and assistants of their own. */
export interface Seat {
  readonly user: User;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Seats {
  readonly names?: readonly AssistantName[];
  /** See `User`. */
  readonly until?: number;
}

/** Without it Gemini CLI would ask how to sign in. */
const GEMINI_SETTINGS = { security: { auth: { selectedType: "gemini-api-key" } } };

/** Two people with a clone each, their daemons, and these assistants set up. */
export async function withSeats(
  lab: Lab,
  run: (ann: Seat, bob: Seat, emulator: Awaited<ReturnType<Lab["emulator"]>>) => Promise<void>,
  { names = NAMES, until = soon() }: Seats = {},
): Promise<void> {
  const emulator = await lab.emulator(lab.git.path("kept"));
  const { url, token } = emulator.account("team");
  const env = { MEMSYNC_URL: url, MEMSYNC_TOKEN: token };
  const [here, there] = await lab.clones({ "README.md": "" });
  const ann = { user: new User(lab.git.path("ann"), until), folder: here, env };
  const bob = { user: new User(lab.git.path("bob"), until), folder: there, env };
  try {
    for (const seat of [ann, bob]) {
      seat.user.writeSettings(".gemini/settings.json", GEMINI_SETTINGS);
      await memsync(seat, "setup", "--yes", ...names);
      await memsync(seat, "start", ".");
    }
    await run(ann, bob, emulator);
  } finally {
    for (const { user, folder: cwd } of [ann, bob]) {
      await user.run(["memsync", "stop"], { cwd, until: soon() }).catch(() => "");
    }
  }
}

/** Runs a command in the clone. Resolves to what it prints; rejects unless it ends with 0. */
export function memsync(seat: Seat, ...args: readonly string[]): Promise<string> {
  return seat.user.run(["memsync", ...args], { cwd: seat.folder, env: seat.env });
}

/** Whatever is asked, the script decides what is done. */
const PROMPT = "Do what is to be done.";

/** How a whole session of an assistant is run. */
interface Played {
  readonly dialect: Dialect;
  command(url: string, prompt?: readonly string[]): readonly string[];
  env(url: string): Readonly<Record<string, string>>;
}

// The first request of each waits for its servers. Else it names their tools once they have
// started, and on a machine with more to do the script would call one that is not there yet.
const PLAYED: Readonly<Record<AssistantName, Played>> = {
  claude: {
    dialect: CLAUDE,
    command: (_, prompt = ["-p", PROMPT]) => [
      "claude",
      ...prompt,
      "--allowedTools",
      "mcp__memsync,Read,Edit,Write",
    ],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "x",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      ENABLE_TOOL_SEARCH: "false",
      MCP_CONNECTION_NONBLOCKING: "0",
      MCP_CONNECT_TIMEOUT_MS: "100000",
      MCP_TIMEOUT: "100000",
    }),
  },
  codex: {
    dialect: CODEX,
    command: (url) => [
      "codex",
      "exec",
      // Somebody at a terminal is asked once.
      "--dangerously-bypass-hook-trust",
      "--dangerously-bypass-approvals-and-sandbox",
      ...[
        'model="played"',
        'model_provider="played"',
        `model_providers.played={name="played",base_url="${url}/v1",wire_api="responses"}`,
        "mcp_servers.memsync.required=true",
        "mcp_servers.memsync.startup_timeout_sec=100",
      ].flatMap((setting) => ["-c", setting]),
      PROMPT,
    ],
    env: () => ({}),
  },
  gemini: {
    dialect: GEMINI,
    command: () => ["gemini", "-p", PROMPT, "-m", "gemini-2.5-flash", "--yolo"],
    env: (url) => ({
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: "x",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
  },
  opencode: {
    dialect: OPENCODE,
    command: () => ["opencode", "run", "--pure", PROMPT],
    env: (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeConfig(url)),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
  },
};

/** A provider of our own, whose package OpenCode has in itself. */
function openCodeConfig(url: string): object {
  const limit = { context: 200_000, output: 8000 };
  const model = { name: "Played", tool_call: true, limit };
  const options = { baseURL: `${url}/v1`, apiKey: "x" };
  const played = { npm: "@ai-sdk/anthropic", name: "Played", options, models: { played: model } };
  const named = { model: "played/played", small_model: "played/played" };
  return { ...named, share: "disabled", autoupdate: false, provider: { played } };
}

/**
 * A whole session of a real assistant, whose model takes these steps. Resolves to what it sent to
 * its model, request by request; rejects if a tool failed. `prompt`: how Claude Code is told what
 * is wanted, if that is no new session.
 */
export async function session(
  seat: Seat,
  name: AssistantName,
  script: readonly Step[],
  prompt?: readonly string[],
): Promise<readonly string[]> {
  const { dialect, command, env } = PLAYED[name];
  using model = new ModelStandIn(dialect, script);
  const given = { cwd: seat.folder, env: { ...seat.env, ...env(model.url) } };
  await seat.user.run(command(model.url, prompt), given).catch((thrown: unknown) => {
    throw new NotTried(messageOf(thrown));
  });
  if (model.refused.length > 0) throw new Error(`a tool failed: ${model.refused.join("\n")}`);
  return model.seen;
}
