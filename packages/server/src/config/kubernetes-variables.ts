/** The address of a Service's first port, such as `tcp://10.96.0.12:8787`. */
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

const PORT_NAME = /^RUNWIRE_(.+_)?PORT$/;

/** The other names that Kubernetes makes for a Service called `runwire` or `runwire-<name>`. */
const SERVICE_NAMES = [
  /^RUNWIRE_SERVICE_/,
  /^RUNWIRE_PORT_/,
  /^RUNWIRE_.+_SERVICE_(HOST|PORT|PORT_.+)$/,
  /^RUNWIRE_.+_PORT_\d+_/,
];

/**
 * True if Kubernetes made this variable: it injects the addresses of the Services of a namespace into each container
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 *
 * A name that ends in `_PORT` can be a setting: a Service called `runwire-metrics` makes `RUNWIRE_METRICS_PORT`. Its value
 * decides: the value of Kubernetes begins with the protocol, and no setting of ours has such a value.
 */
export function isKubernetesVariable(name: string, value: string): boolean {
  return SERVICE_NAMES.some((pattern) => pattern.test(name)) || (PORT_NAME.test(name) && SERVICE_ADDRESS.test(value));
}
