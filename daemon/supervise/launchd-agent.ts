import { escapeXml } from "./escape-xml.ts";
import type { ServiceDefinition } from "./service-definition.ts";

/** launchd restarts a job at the earliest after this time since its last start. */
const THROTTLE_S = 10;
/** A job that was asked to end is killed after this time. */
const EXIT_TIMEOUT_S = 10;
/** Nobody else may read the daemon's files. In decimal, as launchd needs it. */
const UMASK = 0o077;

/** A launchd agent's property list (launchd.plist(5)). */
export function launchdAgent({ name, command, environment, log }: ServiceDefinition): string {
  const variables = Object.entries(environment).map(
    ([key, value]) => `    <key>${escapeXml(key)}</key>\n    ${string(value)}`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"
  "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by memsync install; memsync uninstall removes it. No token belongs here. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(name)}
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${string(word)}`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join("\n")}
  </dict>
  <key>WorkingDirectory</key>
  <string>/</string>
  <key>StandardOutPath</key>
  ${string(log)}
  <key>StandardErrorPath</key>
  ${string(log)}
  <key>Umask</key>
  <integer>${UMASK}</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>${THROTTLE_S}</integer>
  <key>ExitTimeOut</key>
  <integer>${EXIT_TIMEOUT_S}</integer>
</dict>
</plist>
`;
}

function string(text: string): string {
  return `<string>${escapeXml(text)}</string>`;
}
