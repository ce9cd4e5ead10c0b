import { expect, test } from "bun:test";
import { MetricRegistry } from "../../server/operations/metric-registry.ts";
import { createRoutePatterns } from "../../server/operations/route-pattern.ts";

test("a counter is written with its labels, which are escaped", async () => {
  const registry = new MetricRegistry();
  const counter = registry.counter({ name: "a_total", help: "Things.", labels: ["kind", "to"] });
  counter.add(["one", 'a"b\\c\nd']);
  counter.add(["one", 'a"b\\c\nd'], 2);
  counter.add(["two", ""]);
  expect(await registry.render()).toBe(
    [
      "# HELP a_total Things.",
      "# TYPE a_total counter",
      'a_total{kind="one",to="a\\"b\\\\c\\nd"} 3',
      'a_total{kind="two",to=""} 1',
      "",
    ].join("\n"),
  );
});

test("a counter without labels, and a gauge, are there from the start", async () => {
  const registry = new MetricRegistry();
  registry.counter({ name: "a_total", help: "A." });
  let value = 1;
  registry.gauge({ name: "b", help: "B." }, async () => value);
  expect(await registry.render()).toContain("\na_total 0\n");
  value = 2.5;
  expect(await registry.render()).toContain("\nb 2.5\n");
});

test("a gauge that can't be read is left out, and no other", async () => {
  const registry = new MetricRegistry();
  registry.gauge({ name: "a", help: "A." }, () => Promise.reject(new Error("the disk is gone")));
  registry.gauge({ name: "b", help: "B." }, () => 1);
  expect(await registry.render()).toBe("# HELP b B.\n# TYPE b gauge\nb 1\n");
});

test("a histogram's buckets hold all up to their bound, and the last one everything", async () => {
  const registry = new MetricRegistry();
  const histogram = registry.histogram({ name: "h", help: "H.", labels: ["x"] }, [0.1, 1]);
  for (const value of [0.1, 0.05, 0.5, 7]) histogram.observe(value, ["y"]);
  expect((await registry.render()).split("\n").slice(1, -1)).toEqual([
    "# TYPE h histogram",
    'h_bucket{x="y",le="0.1"} 2',
    'h_bucket{x="y",le="1"} 3',
    'h_bucket{x="y",le="+Inf"} 4',
    'h_sum{x="y"} 7.65',
    'h_count{x="y"} 4',
  ]);
});

test("what is known of the process is a gauge that is always 1", async () => {
  const registry = new MetricRegistry();
  registry.info({ name: "i", help: "I.", labels: ["x", "y"] }, ["1", "2"]);
  expect(await registry.render()).toBe('# HELP i I.\n# TYPE i gauge\ni{x="1",y="2"} 1\n');
});

test("a path is known by its pattern, and any other is unmatched", () => {
  const patternOf = createRoutePatterns([
    "/v1/a",
    "/v1/a/:id",
    "/v1/a/:id/sync",
    "/v1/a/b",
    "/x.y",
  ]);
  const paths = ["/v1/a", "/v1/a/b", "/v1/a/c", "/v1/a/c/sync", "/x.y"];
  expect(paths.map(patternOf)).toEqual(["/v1/a", "/v1/a/b", "/v1/a/:id", "/v1/a/:id/sync", "/x.y"]);
  for (const path of ["/", "/v1/a/", "/v1/a/c/d", "/xzy", "/v1/a/c/sync/", "/V1/a"]) {
    expect(patternOf(path)).toBe("unmatched");
  }
});
