import { expect, test } from "bun:test";
import { ControlGuesses } from "../../server/emulator/control/control-guesses.ts";
import { createDrivenWorld } from "../support/driven-world.ts";

const GUESSES = 10;

function guess(guesses: ControlGuesses, address: string): void {
  for (let at = 0; at < GUESSES; at++) guesses.failed(address, `guess-${at}`);
}

function isAdmitted(guesses: ControlGuesses, address: string): boolean {
  try {
    guesses.admit(address, "another");
    return true;
  } catch {
    return false;
  }
}

test("guesses of the control token count for a whole IPv6 network, and for no other", () => {
  const guesses = new ControlGuesses(createDrivenWorld());
  guess(guesses, "2001:db8:0:1::5");
  guess(guesses, "::ffff:192.0.2.1");
  const addresses = [
    "2001:db8:0:1:ffff::1%eth0",
    "192.0.2.1",
    "2001:db8:0:2::5",
    "192.0.2.2",
    "::1",
  ];
  const admitted = addresses.map((address) => isAdmitted(guesses, address));
  expect(admitted).toEqual([false, false, true, true, true]);
});

test("guesses of the control token are forgiven after a minute", () => {
  const world = createDrivenWorld();
  const guesses = new ControlGuesses(world);
  guess(guesses, "192.0.2.1");
  world.advance(59_999);
  expect(isAdmitted(guesses, "192.0.2.1")).toBe(false);
  world.advance(1);
  expect(isAdmitted(guesses, "192.0.2.1")).toBe(true);
});
