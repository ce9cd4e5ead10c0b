import { answerLine, type Exchange } from "./exchange.ts";

/** A rule is broken: what was expected of an answer, and what came. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly got: string;

  constructor(
    readonly exchange: Exchange,
    readonly expected: string,
    got?: string,
  ) {
    super(expected);
    this.got = got ?? answerLine(exchange);
  }
}

/** The server can't be asked any more, so the run ends. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}
