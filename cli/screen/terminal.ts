import { styleText } from "node:util";

/** How a text is shown, as `styleText` of `node:util` names it. */
export type Style = Parameters<typeof styleText>[0];

const WIDTH_MAX = 100;
/** On a narrower terminal lines are broken within words. */
const WIDTH_MIN = 20;

/** Whether standard output is a terminal. */
export function hasTerminal(): boolean {
  return process.stdout.isTTY === true;
}

/** The width of a terminal; without one, or where it does not know its own, lines have no end. */
export function widthOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY && columns > 0 ? Math.max(columns, WIDTH_MIN) : Infinity;
}

/** The width to write in where a line needs one. */
export function terminalWidth(): number {
  return Math.min(widthOf(process.stdout), WIDTH_MAX);
}

/** Whether standard output is a terminal that wants colour. */
export function hasColours(): boolean {
  return hasTerminal() && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}

/** The text in a style, on a terminal that wants colour (https://no-color.org); else unchanged. */
export function styled(style: Style, text: string): string {
  return hasColours() ? styleText(style, text, { validateStream: false }) : text;
}
