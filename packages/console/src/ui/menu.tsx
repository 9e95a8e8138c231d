import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
}

/** A menu that does not lock the page: a modal one would inject a style, which the policy of the pages refuses. */
export function Menu({ trigger, children }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Content className="menu" align="start" sideOffset={4} collisionPadding={8}>
        {children}
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  );
}

export const MenuLine = () => <DropdownMenu.Separator className="menu-line" />;

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <DropdownMenu.Label className="menu-label ellipsis">{children}</DropdownMenu.Label>;
}

interface MenuChoicesProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

/** Several items of which one is chosen. */
export function MenuChoices<Value extends string>({ label, value, choices, onChange }: MenuChoicesProps<Value>) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={(chosen) => onChange(chosen as Value)} aria-label={label}>
      {choices.map((choice) => (
        <DropdownMenu.RadioItem key={choice.value} value={choice.value} className="menu-item">
          <span className="menu-mark" aria-hidden="true">
            {choice.value === value && '✓'}
          </span>
          {choice.label}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

interface MenuItemProps {
  readonly onSelect?: () => void;
  /** True if the child is a link, which becomes the item itself. */
  readonly isLink?: boolean;
  readonly children: ReactNode;
}

export function MenuItem({ onSelect, isLink = false, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item className="menu-item" asChild={isLink} onSelect={() => onSelect?.()}>
      {children}
    </DropdownMenu.Item>
  );
}
