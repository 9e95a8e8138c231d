import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useMemo, useRef } from 'react';
import { readOpenFilter, takeFilters, toWords } from '../lib/search-text.ts';
import { Combobox, type ComboboxOption } from './combobox.tsx';
import './search-field.css';
import { useTypedText } from './use-typed-text.ts';

/** A filter that can be typed as `name:value`. */
export interface SearchFilter {
  /** As it is typed, and as it is called in the address. */
  readonly name: string;
  /** What the filter looks at, for example `state of the run`. */
  readonly detail: string;
  /** All values, if they are few. */
  readonly values?: readonly string[];
  /** Finds values by what was typed. */
  readonly find?: (typed: string, signal: AbortSignal) => Promise<readonly ComboboxOption[]>;
  /** How people read a value; as it is by default. */
  readonly show?: (value: string) => ReactNode;
}

type Search = Readonly<Record<string, string | undefined>>;

interface SearchFieldProps {
  /** What the suggestions are about, for example the integration. */
  readonly scope: string;
  readonly filters: readonly SearchFilter[];
  /** The address. It has the words as `q`. */
  readonly search: Search;
  /** An empty text removes a filter. */
  readonly onChange: (changed: Readonly<Record<string, string>>) => void;
}

const NONE: readonly ComboboxOption[] = [];

/** One field for the words and all filters of a list. Each finished filter is a chip that can be removed. */
export function SearchField({ scope, filters, search, onChange }: SearchFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const names = filters.map(({ name }) => name);
  const readWords = (typed: string) => toWords(typed, names);
  const { text, setText, flush } = useTypedText(search.q ?? '', (q) => onChange({ q }), readWords);
  const chips = filters.filter(({ name }) => search[name] !== undefined);
  const open = readOpenFilter(text, names);
  const filter = filters.find(({ name }) => name === open?.name);
  const { options, firstIndex } = useSuggestions(scope, text, open?.typed ?? '', filter, filters);

  const set = (changed: Readonly<Record<string, string>>, rest: string) => {
    setText(rest);
    onChange({ ...changed, q: readWords(rest) });
  };
  /** Makes chips of the filters that are finished. Returns true if there were any. */
  const type = (typed: string): boolean => {
    const { filters: finished, rest } = takeFilters(typed, names);
    const entries = Object.entries(finished);
    if (entries.length === 0) setText(typed);
    else set(Object.fromEntries(entries.map(([name, value]) => [name, toKnown(filters, name, value)])), rest);
    return entries.length > 0;
  };
  const finish = () => {
    if (!type(`${text} `)) {
      setText(text);
      flush();
    }
  };
  const choose = ({ value }: ComboboxOption): boolean => {
    if (open !== null) set({ [open.name]: value }, open.rest.trim());
    else setText(`${text.replace(/\S*$/, '')}${value}`);
    // The values of a chosen name follow.
    return open === null;
  };
  const remove = (name: string) => {
    onChange({ [name]: '' });
    input.current?.focus();
  };
  return (
    <div className="field search-field">
      <label htmlFor={id}>Search</label>
      <div className="input search-box">
        {chips.length > 0 && (
          <ul className="search-chips" aria-label="Filters">
            {chips.map(({ name, show }) => (
              <li key={name} className="search-chip">
                <span className="ellipsis">
                  {name}:<bdi>{show === undefined ? search[name] : show(search[name] ?? '')}</bdi>
                </span>
                <button type="button" aria-label={`Remove ${name}:${search[name]}`} onClick={() => remove(name)}>
                  <span aria-hidden="true">×</span>
                </button>
              </li>
            ))}
          </ul>
        )}
        <Combobox
          ref={input}
          id={id}
          name="q"
          optionsLabel="Suggestions"
          maxLength={256}
          placeholder={chips.length > 0 ? '' : `Words, or ${names.map((name) => `${name}:`).join(' ')}`}
          text={text}
          options={options}
          firstIndex={firstIndex}
          onType={(typed) => !type(typed)}
          onChoose={choose}
          onEnter={finish}
          // The page of a link that is clicked must not be left again when the pause ends.
          onBlur={finish}
          onBackspace={() => {
            const last = chips.at(-1);
            if (last !== undefined) remove(last.name);
          }}
        />
      </div>
    </div>
  );
}

/** `billing` becomes the known value `Billing`. */
function toKnown(filters: readonly SearchFilter[], name: string, value: string): string {
  const { values = [] } = filters.find((filter) => filter.name === name) ?? {};
  return values.find((known) => known.toLowerCase() === value.toLowerCase()) ?? value;
}

interface Suggestions {
  readonly options: readonly ComboboxOption[];
  /** The option that Enter takes. -1 if Enter takes the text. */
  readonly firstIndex: number;
}

/** Values of the filter that is being typed, otherwise names of filters. */
function useSuggestions(
  scope: string,
  text: string,
  typed: string,
  filter: SearchFilter | undefined,
  filters: readonly SearchFilter[],
): Suggestions {
  const { name, values, find } = filter ?? {};
  const { data: found = NONE } = useQuery({
    queryKey: ['suggestions', scope, name, typed],
    queryFn: ({ signal }) => find?.(typed, signal) ?? NONE,
    enabled: find !== undefined,
    placeholderData: (before, query) => (query?.queryKey[2] === name ? keepPreviousData(before) : undefined),
    staleTime: 30_000,
  });
  const wanted = typed.toLowerCase();
  const known = values?.filter((value) => value.toLowerCase().includes(wanted)).join('\n');
  const word = (/\S*$/.exec(text)?.[0] ?? '').toLowerCase();
  const named = filters
    .filter((one) => one.name.startsWith(word))
    .map((one) => `${one.name}:\t${one.detail}`)
    .join('\n');
  // The texts are compared, so that the list stays the same object while it has the same options.
  const options = useMemo(() => {
    if (name === undefined) return toOptions(named);
    return known === undefined ? found : toOptions(known);
  }, [name, named, known, found]);
  const exact = options.findIndex(({ value }) => value.toLowerCase() === wanted);
  return { options, firstIndex: name === undefined || typed === '' ? -1 : Math.max(0, exact) };
}

function toOptions(lines: string): readonly ComboboxOption[] {
  if (lines === '') return NONE;
  return lines.split('\n').map((line) => {
    const [value = '', detail] = line.split('\t');
    return { value, label: value, ...(detail !== undefined && { detail }) };
  });
}
