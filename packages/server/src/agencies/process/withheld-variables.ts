/** The code of the agency gets undefined for a withheld variable. The first reading of each one is reported. */
export function reportWithheld(withheld: readonly string[], onWithheld: (variable: string) => void): void {
  const unreported = new Set(withheld);
  process.env = new Proxy(process.env, {
    get(target, name) {
      if (typeof name === 'string' && !(name in target) && unreported.delete(name)) onWithheld(name);
      return target[name as string];
    },
  });
}
