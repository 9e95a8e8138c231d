interface ClearFiltersProps {
  /** True if a filter is set. */
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** The last control of a row of filters. It keeps the focus when it has nothing more to do. */
export function ClearFilters({ isFiltered, onClear }: ClearFiltersProps) {
  return (
    <button type="button" className="button" aria-disabled={!isFiltered} onClick={() => isFiltered && onClear()}>
      Clear filters
    </button>
  );
}
