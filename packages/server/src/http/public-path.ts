/** The path of `RUNWIRE_PUBLIC_URL` without a slash at its end; empty if it has none. */
export function publicPath(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}
