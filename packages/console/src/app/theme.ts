import { useSyncExternalStore } from 'react';

/** `theme-start.ts` reads it before the page is shown. */
const KEY = 'runwire theme';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

const notifyAll = () => {
  for (const listener of listeners) listener();
};
systemIsDark.addEventListener('change', notifyAll);
// Another tab has chosen.
addEventListener('storage', ({ key, newValue }) => {
  if (key === KEY) apply(THEMES.find((theme) => theme === newValue) ?? 'system');
});

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  notifyAll();
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  apply(theme);
}

/** Calls the listener when the colours of the page change. Returns a function that ends this. */
export function onColours(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const readTheme = (): Theme => THEMES.find((theme) => theme === document.documentElement.dataset.theme) ?? 'system';

export const useTheme = (): Theme => useSyncExternalStore(onColours, readTheme);
