const MINUTE_MS = 60_000;
const MS_PER_S = 1000;
const TOO_MANY = 429;

/** Notes one machine's answers. */
export interface Caller {
  answered(now: number, response: Response): void;
}

/** Every request of a fleet, as the service saw it. */
export class RequestLog {
  /** When requests were sent that were charged, and that were refused for their number. */
  readonly charged: number[] = [];
  readonly refused: number[] = [];
  /** Requests that came before the `Retry-After` of the same machine was over. */
  early = 0;

  get answered(): number {
    return this.charged.length + this.refused.length;
  }

  caller(): Caller {
    let quietUntil = 0;
    return {
      answered: (now, response) => {
        if (now < quietUntil) this.early += 1;
        const isRefused = response.status === TOO_MANY;
        (isRefused ? this.refused : this.charged).push(now);
        const seconds = Number(response.headers.get("retry-after") ?? 0);
        if (isRefused) quietUntil = now + seconds * MS_PER_S;
      },
    };
  }

  handshake(now: number, status: number): void {
    (status === TOO_MANY ? this.refused : this.charged).push(now);
  }

  /** The most requests, refused ones among them, in any 60 seconds. */
  mostInAMinute(): number {
    const times = [...this.charged, ...this.refused].sort((one, other) => one - other);
    let first = 0;
    let most = 0;
    for (const [at, time] of times.entries()) {
      while ((times[first] ?? time) <= time - MINUTE_MS) first += 1;
      most = Math.max(most, at - first + 1);
    }
    return most;
  }

  /** Requests charged in [from, to). */
  between(from: number, to: number): number {
    return this.charged.filter((time) => time >= from && time < to).length;
  }
}
