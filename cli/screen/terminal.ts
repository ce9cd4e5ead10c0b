import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

const WIDTH_MAX = 100;
const WIDTH_MIN = 40;

/** Whether standard output is a terminal. */
export function hasTerminal(): boolean {
  return process.stdout.isTTY === true;
}

/** The width to write in: the terminal's, within limits; the largest without one. */
export function terminalWidth(): number {
  const columns = hasTerminal() ? process.stdout.columns : WIDTH_MAX;
  return Math.min(Math.max(columns, WIDTH_MIN), WIDTH_MAX);
}

/** Whether standard output is a terminal that wants colour. */
export function hasColours(): boolean {
  return hasTerminal() && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}

/** The text in a style, on a terminal that wants colour (https://no-color.org); else unchanged. */
export function styled(style: Style, text: string): string {
  return hasColours() ? styleText(style, text, { validateStream: false }) : text;
}
