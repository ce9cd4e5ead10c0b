import type { Lab } from "../../support/lab.ts";
import { CLAUDE } from "./claude-dialect.ts";
import { User } from "./installed.ts";
import { ModelStandIn, type Step } from "./stand-in.ts";

const TOOLS = "mcp__memsync,Read,Edit,Write";

/** Somebody with a clone, a home and assistants of their own. */
export interface Seat {
  readonly user: User;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Two people with a clone each, their daemons, and Claude Code set up. */
export async function withSeats(
  lab: Lab,
  run: (ann: Seat, bob: Seat, emulator: Awaited<ReturnType<Lab["emulator"]>>) => Promise<void>,
): Promise<void> {
  const emulator = await lab.emulator(lab.git.path("kept"));
  const { url, token } = emulator.account("team");
  const env = { MEMSYNC_URL: url, MEMSYNC_TOKEN: token };
  const [here, there] = await lab.clones({ "README.md": "" });
  const ann = { user: new User(lab.git.path("ann")), folder: here, env };
  const bob = { user: new User(lab.git.path("bob")), folder: there, env };
  try {
    for (const seat of [ann, bob]) {
      await memsync(seat, "setup", "claude", "--yes");
      await memsync(seat, "start", ".");
    }
    await run(ann, bob, emulator);
  } finally {
    for (const seat of [ann, bob]) await memsync(seat, "stop").catch(() => "");
  }
}

/** Runs a command in the clone. Resolves to what it prints; rejects unless it ends with 0. */
export function memsync(seat: Seat, ...args: readonly string[]): Promise<string> {
  return seat.user.run(["memsync", ...args], { cwd: seat.folder, env: seat.env });
}

/**
 * A whole session of the real Claude Code, whose model takes these steps. Resolves to what it sent
 * to its model, request by request; rejects if a tool failed.
 */
export async function claudeSession(
  seat: Seat,
  prompt: string,
  script: readonly Step[],
): Promise<readonly string[]> {
  using model = new ModelStandIn(CLAUDE, script);
  const env = {
    ...seat.env,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "x",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    ENABLE_TOOL_SEARCH: "false",
    // Its first request waits for its servers. Else it names their tools once they have started,
    // and on a machine with more to do the script would call one that is not there yet.
    MCP_CONNECTION_NONBLOCKING: "0",
    MCP_CONNECT_TIMEOUT_MS: "100000",
    MCP_TIMEOUT: "100000",
  };
  const command = ["claude", "-p", prompt, "--allowedTools", TOOLS];
  await seat.user.run(command, { cwd: seat.folder, env });
  if (model.refused.length > 0) throw new Error(`a tool failed: ${model.refused.join("\n")}`);
  return model.seen;
}
