import { expect, setDefaultTimeout, test } from "bun:test";
import { exchangeOverService } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n";
const CRLF = START.replaceAll("\n", "\r\n");
const MARKED = `\uFEFF${START}`;

const lab = foldersOfEach();

for (const [what, texts, kinds] of [
  ["two gave it the same form", [CRLF, CRLF], []],
  ["two gave it different ones", [CRLF, MARKED], ["format"]],
  ["three gave it the same form", [CRLF, CRLF, CRLF], []],
  ["three gave it two of them", [CRLF, MARKED, CRLF], ["format"]],
] as const)
  for (const isReversed of [false, true])
    test(`machines cease to send a text's form where ${what} at once${isReversed ? ", in the other order" : ""}`, async () => {
      const machines = await lab.machines(["a", "b", "c"].slice(0, texts.length), START);
      for (const [nth, text] of texts.entries()) await machines[nth]?.save(text);
      const order = isReversed ? machines.toReversed() : machines;
      await exchangeOverService(order);
      for (const machine of machines) {
        await machine.settle();
        expect((await machine.conflicts()).map(({ kind }) => kind)).toEqual([...kinds]);
        expect(machine.file()).toBe((await machines[0]?.doc()) ?? "");
      }
      await exchangeOverService(order);
      const documents = new Set(await Promise.all(machines.map((machine) => machine.doc())));
      expect(documents.size).toBe(1);
    });
