import { useSyncExternalStore } from 'react';

/** How long a page that is not in view may wait: it has no frames. */
const HIDDEN_MS = 500;

const changed = new Set<Changes>();
let isScheduled = false;

function notifyAll(): void {
  isScheduled = false;
  const due = [...changed];
  changed.clear();
  for (const changes of due) changes.notify();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  if (document.visibilityState === 'hidden') setTimeout(notifyAll, HIDDEN_MS);
  else requestAnimationFrame(notifyAll);
}

/** Counts the changes of an object that changes in place. Its readers are notified at most once per frame. */
export class Changes {
  #version = 0;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly version = () => this.#version;

  add(): void {
    changed.add(this);
    schedule();
  }

  notify(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

const NEVER = new Changes();

/** Renders again after each change. Returns the number of changes. */
export const useChanges = (changes = NEVER): number => useSyncExternalStore(changes.subscribe, changes.version);
