/** The value below which a fraction (from 0 to 1) of the values lie. There is at least one. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * fraction));
  const found = sorted[at];
  if (found === undefined) throw new Error("nothing was measured");
  return found;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A duration for the table. */
export function ms(value: number): string {
  if (value >= 100) return `${value.toFixed(0)} ms`;
  return value >= 10 ? `${value.toFixed(1)} ms` : `${value.toFixed(2)} ms`;
}

/** A count for the table: `24,000`. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`;
}
