/** Runs one claim of a conformance suite, as a test or in a proof. */
export type RunClaim = (title: string, body: () => Promise<void>) => unknown;

export interface FilesHarness<T> {
  /** A store on the same data each time it is called within one test. */
  open(): Promise<T>;
  cleanUp(): Promise<void>;
}

/** Runs claims on stores of files. Each claim gets its own store, which it may open again. */
export function claimsOn<T>(name: string, harness: () => Promise<FilesHarness<T>>, run: RunClaim) {
  return (claim: string, body: (store: T, again: () => Promise<T>) => Promise<void>) =>
    run(`${name}: ${claim}`, async () => {
      const { open, cleanUp } = await harness();
      try {
        await body(await open(), open);
      } finally {
        await cleanUp();
      }
    });
}
