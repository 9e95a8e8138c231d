/** Something may be new. Only a hint: it can be lost, and whoever hears it looks for itself. */
export type Hint =
  /** This node has stored events of its runs. */
  | { readonly kind: 'log'; readonly nodeId: string }
  /** Somebody asked for the end of a run. */
  | { readonly kind: 'cancel' };

/** Brings the hints of all nodes, this one's own among them. */
export interface Notifier extends AsyncDisposable {
  /** Returns the function that ends the listening. */
  listen(onHint: (hint: Hint) => void): () => void;
}

/** Where there is nobody to hear, or no way to: whoever waits looks by the clock. */
export const silentNotifier: Notifier = {
  listen: () => () => {},
  [Symbol.asyncDispose]: async () => {},
};

/** Resolves with the next hint of this kind, or when the time is over. */
export function nextHint(notifier: Notifier, kind: Hint['kind'], timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    const stop = notifier.listen((hint) => {
      if (hint.kind === kind) done();
    });
  });
}
