import { type TProperties, Type } from "@sinclair/typebox";

// The part of Kubernetes' interface that deploy/kubernetes.yaml uses, after
// https://kubernetes.io/docs/reference/kubernetes-api/. Closed: a name that stands in the wrong
// place or is misspelt, which a cluster would drop without a word, is found.

function closed<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

const name = Type.String({ pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" });
const labels = Type.Record(Type.String(), Type.String());
const selector = closed({ matchLabels: labels });
const metadata = closed({ name, labels: Type.Optional(labels) });
const quantity = Type.String({ pattern: "^\\d+(m|Ki|Mi|Gi)?$" });
const path = Type.String({ pattern: "^/" });
const count = Type.Integer({ minimum: 0 });

const env = Type.Union([
  closed({ name: Type.String(), value: Type.String() }),
  closed({
    name: Type.String(),
    valueFrom: closed({ secretKeyRef: closed({ name, key: Type.String() }) }),
  }),
]);

const probe = closed({
  httpGet: closed({ path, port: name }),
  periodSeconds: Type.Optional(count),
  timeoutSeconds: Type.Optional(count),
  failureThreshold: Type.Optional(count),
});

const container = closed({
  name,
  image: Type.String(),
  args: Type.Array(Type.String()),
  ports: Type.Array(closed({ name, containerPort: count })),
  env: Type.Array(env),
  readinessProbe: probe,
  livenessProbe: probe,
  resources: closed({
    requests: closed({ cpu: quantity, memory: quantity }),
    limits: closed({ memory: quantity }),
  }),
  securityContext: closed({
    allowPrivilegeEscalation: Type.Boolean(),
    readOnlyRootFilesystem: Type.Boolean(),
    capabilities: closed({ drop: Type.Array(Type.String()) }),
  }),
  volumeMounts: Type.Array(closed({ name, mountPath: path })),
});

const pod = closed({
  terminationGracePeriodSeconds: count,
  securityContext: closed({
    runAsNonRoot: Type.Boolean(),
    runAsUser: count,
    seccompProfile: closed({ type: Type.Literal("RuntimeDefault") }),
  }),
  topologySpreadConstraints: Type.Array(
    closed({
      maxSkew: count,
      topologyKey: Type.String(),
      whenUnsatisfiable: Type.Union([
        Type.Literal("ScheduleAnyway"),
        Type.Literal("DoNotSchedule"),
      ]),
      labelSelector: selector,
    }),
  ),
  containers: Type.Array(container),
  volumes: Type.Array(closed({ name, emptyDir: closed({}) })),
});

/** The three parts of the file, in their order. */
export const KUBERNETES = Type.Tuple([
  closed({
    apiVersion: Type.Literal("apps/v1"),
    kind: Type.Literal("Deployment"),
    metadata,
    spec: closed({
      replicas: count,
      selector,
      strategy: closed({ rollingUpdate: closed({ maxUnavailable: count, maxSurge: count }) }),
      template: closed({ metadata: closed({ labels }), spec: pod }),
    }),
  }),
  closed({
    apiVersion: Type.Literal("v1"),
    kind: Type.Literal("Service"),
    metadata,
    spec: closed({
      selector: labels,
      ports: Type.Array(closed({ name, port: count, targetPort: name })),
    }),
  }),
  closed({
    apiVersion: Type.Literal("policy/v1"),
    kind: Type.Literal("PodDisruptionBudget"),
    metadata,
    spec: closed({ minAvailable: count, selector }),
  }),
]);
