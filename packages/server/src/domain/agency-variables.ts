/** Variables of the server itself. The agency code does not get them unless `env` of the agency passes them on. */
const OWN_NAMES: ReadonlySet<string> = new Set(['RUNWIRE_SECRET', 'RUNWIRE_API_KEY', 'DATABASE_URL']);
const OWN_PREFIXES = ['PG', 'OTEL_'];
/** Credentials and addresses of the object store, if the server uses one. */
const S3_PREFIXES = ['AWS_', 'S3_'];

type Variables = Readonly<Record<string, string | undefined>>;

/** The environment of the agency processes, and the names that were left out. */
export interface AgencyVariables {
  readonly env: Readonly<Record<string, string>>;
  readonly withheld: readonly string[];
}

export function agencyVariables(variables: Variables, usesS3: boolean): AgencyVariables {
  const prefixes = usesS3 ? [...OWN_PREFIXES, ...S3_PREFIXES] : OWN_PREFIXES;
  const env: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) continue;
    // Windows does not distinguish case.
    const upper = name.toUpperCase();
    if (OWN_NAMES.has(upper) || prefixes.some((prefix) => upper.startsWith(prefix))) withheld.push(name);
    else env[name] = value;
  }
  return { env, withheld };
}
