import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useId, useRef } from 'react';
import type { EventLog, LogState } from './event-log.ts';
import { getKind, toPreview } from './event-text.ts';

interface EventRowsProps {
  readonly log: EventLog;
  readonly state: LogState;
  readonly chosenId: number | null;
  readonly onChoose: (id: number) => void;
}

const ROW_PX = 28;
const PAGE_ROWS = 15;

/** A list of events, of which only the rows in view are in the document. Arrow keys choose an event. */
export function EventRows({ log, state, chosenId, onChoose }: EventRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const listId = useId();
  const virtualizer = useVirtualizer({
    count: state.matching,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const choose = (row: number) => {
    const frame = log.frameAt(row);
    if (frame === undefined) return;
    onChoose(frame.id);
  };
  const move = (event: KeyboardEvent) => {
    const last = state.matching - 1;
    const chosen = chosenId === null ? -1 : log.toRow(chosenId);
    // The chosen event may be left out by the filter; then its place has the event that follows it.
    const next = chosenId === null || log.frameAt(chosen)?.id === chosenId ? chosen + 1 : chosen;
    const rows: Readonly<Record<string, number>> = {
      ArrowDown: next,
      ArrowUp: chosen - 1,
      PageDown: next - 1 + PAGE_ROWS,
      PageUp: chosen - PAGE_ROWS,
      Home: 0,
      End: last,
    };
    const row = rows[event.key];
    if (row === undefined) return;
    event.preventDefault();
    const target = Math.min(Math.max(row, 0), last);
    choose(target);
    virtualizer.scrollToIndex(target);
  };
  const rows = virtualizer.getVirtualItems();
  const isChosenInView = rows.some(({ index }) => log.frameAt(index)?.id === chosenId);
  return (
    <div
      ref={box}
      className="event-rows"
      role="listbox"
      aria-label="Events"
      tabIndex={0}
      aria-activedescendant={isChosenInView ? `${listId}-${chosenId}` : undefined}
      onKeyDown={move}
    >
      <div className="event-canvas" role="presentation" style={{ height: virtualizer.getTotalSize() }}>
        {rows.map(({ index, start }) => {
          const frame = log.frameAt(index);
          if (frame === undefined) return null;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and handles the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names the active option.
            <div
              key={frame.id}
              id={`${listId}-${frame.id}`}
              className="event-row"
              role="option"
              aria-selected={frame.id === chosenId}
              aria-posinset={index + 1}
              aria-setsize={state.matching}
              style={{ insetBlockStart: start }}
              onClick={() => choose(index)}
            >
              <span className="event-id">{frame.id}</span>
              <span className="event-kind">{getKind(frame)}</span>
              <span className="event-data ellipsis">{toPreview(frame)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
