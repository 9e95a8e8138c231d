import { useEffect, useRef, useSyncExternalStore } from 'react';

/* Keys that work on every page. Lists have their own, which ask `isShortcut` too. */

const OFF_KEY = 'runwire shortcuts';
/** How long the second key of `g h` may take. */
const SECOND_KEY_MS = 1500;

const listeners = new Set<() => void>();

/** People who dictate or whose hands shake can switch keys without Ctrl off. */
export const areShortcutsOn = (): boolean => localStorage.getItem(OFF_KEY) !== 'off';

export function setShortcuts(isOn: boolean): void {
  if (isOn) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, 'off');
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useAreShortcutsOn = (): boolean => useSyncExternalStore(subscribe, areShortcutsOn);

const IN_USE = 'input, textarea, select, [contenteditable], [role="menu"], [role="slider"], [role="tablist"]';

/** True if a single key is a shortcut here: nothing is typed, no dialog is open, and the person wants shortcuts. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !areShortcutsOn()) return false;
  const isInUse = event.target instanceof Element && event.target.closest(IN_USE) !== null;
  return !isInUse && document.querySelector('dialog[open]') === null;
}

/** There the command key is used instead of Ctrl. */
export const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** True for Ctrl-K and ⌘-K, also in a field. */
const isPaletteKey = ({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent) =>
  key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey;

interface ShortcutActions {
  readonly openPalette: () => void;
  readonly openHelp: () => void;
  /** Opens the page for the key after `g`. */
  readonly go: (key: string) => void;
}

/** Focuses the field in which the page is searched or filtered. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"], main input[name="q"]');
  field?.focus();
  return field !== null;
}

export function useShortcuts(actions: ShortcutActions): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    let firstAt = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      const { openPalette, openHelp, go } = latest.current;
      if (isPaletteKey(event)) {
        // The browser would search the web.
        event.preventDefault();
        openPalette();
        return;
      }
      if (!isShortcut(event) || event.repeat) return;
      const isSecond = event.timeStamp - firstAt < SECOND_KEY_MS;
      firstAt = Number.NEGATIVE_INFINITY;
      if (isSecond) {
        // It is not the key of a list.
        event.preventDefault();
        go(event.key);
      } else if (event.key === 'g') firstAt = event.timeStamp;
      else if (event.key === '?') openHelp();
      // The key must not be typed into the field.
      else if (event.key === '/' && focusSearch()) event.preventDefault();
    };
    // Before the keys of lists.
    window.addEventListener('keydown', press, true);
    return () => window.removeEventListener('keydown', press, true);
  }, []);
}
