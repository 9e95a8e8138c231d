import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { noteError } from '../../app/query-client.ts';
import { formatCount } from '../../lib/format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icons.tsx';
import './palette.css';
import { type PaletteItem, usePaletteItems } from './palette-items.ts';

interface PaletteDialogProps {
  readonly onClose: () => void;
}

type Search =
  | { readonly state: 'none' }
  | { readonly state: 'looking'; readonly abort: AbortController }
  | { readonly state: 'absent'; readonly sentence: string }
  | { readonly state: 'failed'; readonly error: unknown };

/** Opens pages and carries out actions by name, and finds what has a pasted id. */
export function PaletteDialog({ onClose }: PaletteDialogProps) {
  const id = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const [search, setSearch] = useState<Search>({ state: 'none' });
  const groups = usePaletteItems(text);
  const items = groups.flatMap((group) => group.items);
  const active = Math.min(chosen, items.length - 1);
  const list = useRef<HTMLDivElement>(null);
  const optionId = (index: number) => `${id}-${index}`;

  useEffect(() => {
    if (active >= 0) list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  // An answer that arrives after the dialog was closed opens nothing.
  useEffect(() => (search.state === 'looking' ? () => search.abort.abort() : undefined), [search]);

  const choose = async (item: PaletteItem) => {
    const abort = new AbortController();
    if (item.icon !== 'search') {
      onClose();
      void item.choose(abort.signal);
      return;
    }
    setSearch({ state: 'looking', abort });
    try {
      const sentence = await item.choose(abort.signal);
      if (abort.signal.aborted) return;
      if (typeof sentence === 'string') setSearch({ state: 'absent', sentence });
      else onClose();
    } catch (error) {
      if (abort.signal.aborted) return;
      noteError(error);
      setSearch({ state: 'failed', error });
    }
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) {
      event.preventDefault();
      setChosen((active + step + items.length) % items.length);
    }
    const item = items[active];
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || item === undefined) return;
    event.preventDefault();
    void choose(item);
  };
  const starts = groups.map((_, index) => groups.slice(0, index).reduce((sum, group) => sum + group.items.length, 0));
  return (
    <Dialog title="Go to" className="palette" closesOutside onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-label="Page, action or id"
        aria-autocomplete="list"
        aria-expanded={items.length > 0}
        {...(items.length > 0 && { 'aria-controls': `${id}-list`, 'aria-activedescendant': optionId(active) })}
        placeholder="Page, action, or paste an id or a file path"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(0);
          setSearch({ state: 'none' });
        }}
        onKeyDown={press}
      />
      <p className={search.state === 'none' ? 'visually-hidden' : 'palette-status'} role="status">
        {search.state === 'none' && formatCount(items.length, 'result')}
        {search.state === 'looking' && 'Looking in all integrations…'}
        {search.state === 'absent' && search.sentence}
      </p>
      {search.state === 'failed' && <ErrorNotice error={search.error} />}
      {items.length > 0 && (
        <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" className="palette-list">
          {groups.map((group, groupIndex) => (
            // biome-ignore lint/a11y/useSemanticElements: a list box has no fieldsets.
            <div key={group.title} role="group" aria-labelledby={`${id}-group-${groupIndex}`}>
              <div id={`${id}-group-${groupIndex}`} className="palette-group">
                {group.title}
              </div>
              {group.items.map((item, place) => {
                const index = (starts[groupIndex] ?? 0) + place;
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the focus and the keys.
                  <div
                    key={`${item.title} ${item.detail ?? ''}`}
                    id={optionId(index)}
                    role="option"
                    aria-selected={index === active}
                    className="palette-option"
                    onPointerMove={() => setChosen(index)}
                    onClick={() => void choose(item)}
                  >
                    <Icon name={item.icon} />
                    <bdi className="ellipsis">{item.title}</bdi>
                    {item.detail !== undefined && <bdi className="palette-detail ellipsis">{item.detail}</bdi>}
                  </div>
                );
              })}
            </div>
          ))}
        </div>
      )}
    </Dialog>
  );
}
