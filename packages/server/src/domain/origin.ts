const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@\\]+$/;

/** Returns null if a browser can send this text as `Origin`, and otherwise the rest of a sentence about it. */
export function originProblem(origin: string): string | null {
  const problem = 'must be an exact origin, such as `https://app.example.com`, without a path';
  if (!ORIGIN.test(origin)) return problem;
  // Origins of apps, such as `capacitor://localhost`, have no canonical form.
  if (!/^https?:/.test(origin)) return null;
  const canonical = URL.parse(origin)?.origin;
  if (canonical === undefined) return problem;
  return canonical === origin ? null : `must be written as browsers send it: \`${canonical}\``;
}
