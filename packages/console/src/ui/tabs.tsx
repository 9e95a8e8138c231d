import { Tabs as RadixTabs } from 'radix-ui';
import type { ReactNode } from 'react';

interface Tab {
  readonly id: string;
  readonly title: string;
  readonly content: ReactNode;
  /** True if it stays in the document, so that what was typed is not lost. */
  readonly isKept?: boolean;
}

interface TabsProps {
  /** Names the group for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The open tab, if its state is in the address; otherwise the first is open at the start. */
  readonly value?: string;
  readonly onChange?: (id: string) => void;
}

export function Tabs({ label, tabs, value, onChange }: TabsProps) {
  const state = value === undefined ? { defaultValue: tabs[0]?.id ?? '' } : { value };
  return (
    <RadixTabs.Root {...state} {...(onChange === undefined ? {} : { onValueChange: onChange })}>
      <RadixTabs.List className="tab-list" aria-label={label}>
        {tabs.map(({ id, title }) => (
          <RadixTabs.Trigger key={id} value={id} className="tab">
            {title}
          </RadixTabs.Trigger>
        ))}
      </RadixTabs.List>
      {tabs.map(({ id, content, isKept }) => (
        <RadixTabs.Content key={id} value={id} className="tab-panel" {...(isKept && { forceMount: true })}>
          {content}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  );
}
