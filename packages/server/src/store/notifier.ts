/** A hint that something may have changed. A hint can be lost, so a receiver reads the database itself. */
export type Hint =
  /** The node has its runs' stored events. */
  | { readonly kind: 'log'; readonly nodeId: string }
  /** A caller asked to cancel a run. */
  | { readonly kind: 'cancel' };

/** Delivers the hints of all nodes, including those of this node. */
export interface Notifier extends AsyncDisposable {
  /** Returns the function that stops listening. */
  listen(onHint: (hint: Hint) => void): () => void;
}

/**
 * Delivers no hints. It serves stores without other nodes and poolers that cannot deliver notifications; receivers
 * poll.
 */
export const silentNotifier: Notifier = {
  listen: () => () => {},
  [Symbol.asyncDispose]: async () => {},
};

/** Resolves at the next hint of this kind, or after `timeoutMs`. */
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
