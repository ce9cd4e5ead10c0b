import { expect, test } from "bun:test";
import { findSecrets } from "../../daemon/held/secret-scan.ts";

/** A length, or words of an example or of a type, within something that was thought up. */
const PASSWORDS: readonly string[] = [
  ...["Blau-24bytes", "rex-max-88", "monkeyhere42", "turkeyhere77"],
  ...["S3Token", "K8sService1", "V8Manager", "Ec2Secret"],
];

test("a password that has a word of an example, a length or a type in it is found", async () => {
  const lines = PASSWORDS.map((password) => `password: ${password}`);
  lines.push("API_SECRET=Ax9-max-22-q7Zp0LkW", "the staging password is rex-max-88");
  for (const line of lines) expect([line, (await findSecrets(line)).length]).toEqual([line, 1]);
});
