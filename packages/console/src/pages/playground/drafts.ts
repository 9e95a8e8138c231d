import { onPersonLeaves } from '../../app/person.ts';

/* What a person has typed and not sent survives a reload of the tab. */

const PREFIX = 'runwire draft: ';

export const readDraft = (key: string): string => sessionStorage.getItem(PREFIX + key) ?? '';

export function writeDraft(key: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, text);
  } catch {
    // A text that is too long for the browser is not kept.
  }
}

onPersonLeaves(() => {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
});
