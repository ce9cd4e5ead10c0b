import type { ServiceDefinition } from "./service-definition.ts";

/** The unit's watchdog, much slower than the daemon's own check. */
const WATCHDOG_S = 120;

/** What a unit can rely on. */
export interface UnitOptions {
  /** The daemon can notify systemd that it is ready and alive. */
  readonly notifies: boolean;
}

/** A systemd user unit (systemd.unit(5), systemd.service(5)). */
export function systemdUnit(definition: ServiceDefinition, { notifies }: UnitOptions): string {
  const { command, environment, log } = definition;
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`)}`,
  );
  const liveness = notifies ? ["Type=notify", `WatchdogSec=${WATCHDOG_S}`] : ["Type=exec"];
  return `# Written by \`memsync install\`; \`memsync uninstall\` removes it.
# No token belongs here: unit files are shown to whoever asks.

[Unit]
Description=memsync daemon
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
${liveness.join("\n")}
ExecStart=${command.map(argument).join(" ")}
${variables.join("\n")}
WorkingDirectory=/
UMask=0077
StandardOutput=append:${unspecified(log)}
StandardError=inherit
Restart=on-failure
RestartSec=2
# A database of an older version may be rewritten first.
TimeoutStartSec=900
TimeoutStopSec=10
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`;
}

/** Escapes a word of a command line, in which `$` would begin a variable. */
function argument(word: string): string {
  return quoted(word).replaceAll("$", "$$$$");
}

/** Quotes a word if necessary, with the escapes of systemd.syntax(7). */
function quoted(word: string): string {
  const escaped = unspecified(word).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /^[\w./:=@+,%$-]+$/.test(escaped) ? escaped : `"${escaped.replaceAll("\n", "\\n")}"`;
}

/** Escapes `%`, which begins a specifier anywhere. */
function unspecified(text: string): string {
  return text.replaceAll("%", "%%");
}
