import { type InputHTMLAttributes, type KeyboardEvent, type Ref, useEffect, useId, useState } from 'react';
import { formatCount } from '../lib/format.ts';
import './combobox.css';

export interface ComboboxOption {
  /** Unique among the options. */
  readonly value: string;
  readonly label: string;
  /** Shown beside the label. */
  readonly detail?: string;
}

interface ComboboxProps
  extends Pick<InputHTMLAttributes<HTMLInputElement>, 'id' | 'name' | 'placeholder' | 'maxLength' | 'onBlur'> {
  readonly ref?: Ref<HTMLInputElement>;
  /** Names the list of options. */
  readonly optionsLabel: string;
  readonly text: string;
  /** Another array is another list: the choice in it begins again. */
  readonly options: readonly ComboboxOption[];
  /** The option that Enter takes before an arrow key was pressed. -1 for none. */
  readonly firstIndex: number;
  /** Returns true if the list opens. */
  readonly onType: (text: string) => boolean;
  /** Returns true if the list stays open. */
  readonly onChoose: (option: ComboboxOption) => boolean;
  /** Enter without an option. */
  readonly onEnter: () => void;
  /** Backspace at the start of the text. */
  readonly onBackspace?: () => void;
}

interface Move {
  readonly options: readonly ComboboxOption[];
  readonly index: number;
}

/** A text field with a list of suggestions, by the pattern "editable combobox" of ARIA: the field keeps the focus. */
export function Combobox(props: ComboboxProps) {
  const { optionsLabel, text, options, firstIndex, onType, onChoose, onEnter, onBackspace, onBlur, ...rest } = props;
  const listId = useId();
  const [isOpen, setOpen] = useState(false);
  const [move, setMove] = useState<Move | null>(null);
  const isShown = isOpen && options.length > 0;
  const active = !isShown ? -1 : move?.options === options ? move.index : firstIndex;
  useEffect(() => {
    if (active >= 0) document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [listId, active]);
  const step = (by: number) => {
    const places = options.length + 1;
    // The field itself is one of the places.
    if (isShown) setMove({ options, index: ((active + 1 + by + places) % places) - 1 });
    setOpen(true);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const chosen = options[active];
    if (event.key === 'ArrowDown') step(1);
    else if (event.key === 'ArrowUp') step(-1);
    else if (event.key === 'Escape' && isShown) setOpen(false);
    else if (event.key === 'Enter' && chosen !== undefined) setOpen(onChoose(chosen));
    else if (event.key === 'Enter') {
      setOpen(false);
      onEnter();
    } else {
      if (event.key === 'Backspace' && event.currentTarget.selectionEnd === 0) onBackspace?.();
      return;
    }
    event.preventDefault();
  };
  return (
    <div className="combobox">
      <input
        {...rest}
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={isShown ? listId : undefined}
        aria-activedescendant={active >= 0 ? `${listId}-${active}` : undefined}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setOpen(onType(event.target.value));
        }}
        onClick={() => setOpen(true)}
        onKeyDown={onKeyDown}
        onBlur={(event) => {
          setOpen(false);
          onBlur?.(event);
        }}
      />
      <span className="visually-hidden" role="status">
        {isShown && formatCount(options.length, 'suggestion')}
      </span>
      {isShown && (
        <div id={listId} role="listbox" aria-label={optionsLabel} className="combobox-options">
          {options.map((option, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the active option.
            <div
              key={option.value}
              id={`${listId}-${index}`}
              className="combobox-option"
              role="option"
              aria-selected={index === active}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => setOpen(onChoose(option))}
            >
              <bdi className="ellipsis">{option.label}</bdi>
              {option.detail !== undefined && <bdi className="ellipsis small muted">{option.detail}</bdi>}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
