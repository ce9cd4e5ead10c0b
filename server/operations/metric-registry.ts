/** The values of a metric's labels, in the order of its label names. */
type LabelValues = readonly string[];

/** Separates label values in a key. No value contains it. */
const SEPARATOR = "\0";

/** The description of a metric; names follow https://prometheus.io/docs/practices/naming. */
interface Description {
  readonly name: string;
  readonly help: string;
  /** Names of its labels; none if left out. */
  readonly labels?: readonly string[];
}

interface Metric {
  render(): string[] | Promise<string[]>;
}

/**
 * Metrics in Prometheus' text format, version 0.0.4. Written here because prom-client takes 16 MB
 * and tens of milliseconds at every start of the emulator. Callers must bound the number of label
 * values.
 *
 * ```
 * const registry = new MetricRegistry();
 * const seconds = registry.histogram({ name: "commit_seconds", help: "Commits" }, [0.1, 1]);
 * seconds.observe(0.02);
 * ```
 */
export class MetricRegistry {
  readonly #metrics: Metric[] = [];

  counter(description: Description): Counter {
    return this.#add(new Counter(description));
  }

  /** `bounds`: upper ends of the buckets, ascending. Larger values are counted, too. */
  histogram(description: Description, bounds: readonly number[]): Histogram {
    return this.#add(new Histogram(description, bounds));
  }

  /** A figure that is read at each scrape. One that can't be read is left out. */
  gauge(description: Omit<Description, "labels">, read: () => number | Promise<number>): void {
    const { name } = description;
    this.#metrics.push({
      async render() {
        try {
          return [...headOf(description, "gauge"), `${name} ${await read()}`];
        } catch {
          return [];
        }
      },
    });
  }

  /** A counter that is kept elsewhere and read at each scrape. */
  counted(description: Omit<Description, "labels">, read: () => number): void {
    const { name } = description;
    this.#metrics.push({ render: () => [...headOf(description, "counter"), `${name} ${read()}`] });
  }

  /** Facts about the process, as labels of a gauge that is always 1. */
  info(description: Description, values: LabelValues): void {
    const { name } = description;
    const line = `${name}${braced(labelsText(description, values))} 1`;
    this.#metrics.push({ render: () => [...headOf(description, "gauge"), line] });
  }

  async render(): Promise<string> {
    const parts: string[] = [];
    for (const metric of this.#metrics) parts.push(...(await metric.render()));
    return `${parts.join("\n")}\n`;
  }

  #add<Added extends Metric>(metric: Added): Added {
    this.#metrics.push(metric);
    return metric;
  }
}

/** Never decreases. */
class Counter {
  readonly #series = new Map<string, { readonly labels: string; value: number }>();

  constructor(readonly description: Description) {
    if (!description.labels) this.add([], 0);
  }

  add(values: LabelValues = [], by = 1): void {
    const key = values.join(SEPARATOR);
    const known = this.#series.get(key);
    if (known) known.value += by;
    else this.#series.set(key, { labels: labelsText(this.description, values), value: by });
  }

  render(): string[] {
    const { name } = this.description;
    const lines = [...this.#series.values()].map(({ labels, value }) => {
      return `${name}${braced(labels)} ${value}`;
    });
    return [...headOf(this.description, "counter"), ...lines];
  }
}

interface Distribution {
  readonly labels: string;
  /** The number of values in each bucket alone. The last bucket has no upper end. */
  readonly counts: number[];
  sum: number;
}

/** Counts values by size. */
class Histogram {
  readonly #series = new Map<string, Distribution>();

  constructor(
    readonly description: Description,
    readonly bounds: readonly number[],
  ) {
    if (!description.labels) this.#distribution([]);
  }

  observe(value: number, values: LabelValues = []): void {
    const distribution = this.#distribution(values);
    const index = this.bounds.findIndex((bound) => value <= bound);
    const bucket = index === -1 ? this.bounds.length : index;
    distribution.counts[bucket] = (distribution.counts[bucket] ?? 0) + 1;
    distribution.sum += value;
  }

  render(): string[] {
    const lines = [...this.#series.values()].flatMap((each) => this.#linesOf(each));
    return [...headOf(this.description, "histogram"), ...lines];
  }

  #distribution(values: LabelValues): Distribution {
    const key = values.join(SEPARATOR);
    const known = this.#series.get(key);
    if (known) return known;
    const counts = new Array<number>(this.bounds.length + 1).fill(0);
    const made = { labels: labelsText(this.description, values), counts, sum: 0 };
    this.#series.set(key, made);
    return made;
  }

  #linesOf({ labels, counts, sum }: Distribution): string[] {
    const { name } = this.description;
    const separator = labels === "" ? "" : ",";
    let total = 0;
    const buckets = counts.map((count, index) => {
      total += count;
      const bound = this.bounds[index] ?? "+Inf";
      return `${name}_bucket{${labels}${separator}le="${bound}"} ${total}`;
    });
    return [
      ...buckets,
      `${name}_sum${braced(labels)} ${sum}`,
      `${name}_count${braced(labels)} ${total}`,
    ];
  }
}

function headOf({ name, help }: Description, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelsText({ labels = [] }: Description, values: LabelValues): string {
  return labels.map((name, at) => `${name}="${escaped(values[at] ?? "")}"`).join(",");
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`));
}
