import { escapeXml } from "./escape-xml.ts";
import type { ServiceDefinition } from "./service-definition.ts";

/**
 * A task of the Windows task scheduler that starts when `user` (`DOMAIN\name`) logs on
 * (https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema). A task can't set
 * environment variables, so the daemon gets options.
 */
export function scheduledTask(definition: ServiceDefinition, user: string): string {
  const { name, command, environment } = definition;
  const [program = "", ...words] = command;
  const { MEMSYNC_HOME, MEMSYNC_URL, MEMSYNC_GATEWAY_PORT } = environment;
  const told = [
    ...(MEMSYNC_HOME === undefined ? [] : ["--home", MEMSYNC_HOME]),
    ...(MEMSYNC_URL === undefined ? [] : ["--url", MEMSYNC_URL]),
    ...(MEMSYNC_GATEWAY_PORT === undefined ? [] : ["--gateway-port", MEMSYNC_GATEWAY_PORT]),
  ];
  return `<?xml version="1.0" encoding="UTF-16"?>
<!-- Written by memsync install; memsync uninstall removes it. No token belongs here. -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>memsync daemon</Description>
    <URI>\\${escapeXml(name)}</URI>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${escapeXml(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${escapeXml(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <Enabled>true</Enabled>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(program)}</Command>
      <Arguments>${escapeXml([...words, ...told].map(quoted).join(" "))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

/** Quotes a word for CommandLineToArgvW: backslashes are doubled only before a quote. */
function quoted(word: string): string {
  if (word !== "" && !/[\s"]/.test(word)) return word;
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}
