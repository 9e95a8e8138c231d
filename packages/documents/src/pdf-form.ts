/** A form field's used properties. The library has no type for it. */
interface Widget {
  readonly subtype?: unknown;
  readonly fieldType?: unknown;
  readonly fieldName?: unknown;
  readonly alternativeText?: unknown;
  readonly fieldValue?: unknown;
  readonly annotationFlags?: unknown;
  readonly password?: unknown;
  readonly checkBox?: unknown;
  readonly radioButton?: unknown;
  readonly buttonValue?: unknown;
  readonly exportValue?: unknown;
  readonly options?: unknown;
}

const HIDDEN = 2;
const NOT_SHOWN = 32;

/**
 * Returns the filled-in a page's fields as lines `field: value`, in the file's order, each once and without
 * passwords.
 */
export function filledFields(annotations: readonly Widget[], maxUnits: number): readonly string[] {
  const lines = new Set<string>();
  let units = 0;
  for (const widget of annotations) {
    if (units > maxUnits) break;
    const value = widget.subtype === 'Widget' && isShown(widget) ? oneLine(filledIn(widget)) : '';
    if (value === '') continue;
    const name = oneLine(textIn(widget.alternativeText)) || oneLine(textIn(widget.fieldName));
    const line = name === '' ? value : `${name}: ${value}`;
    lines.add(line);
    units += line.length;
  }
  return [...lines];
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : '');
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

function isShown({ annotationFlags, password }: Widget): boolean {
  const flags = typeof annotationFlags === 'number' ? annotationFlags : 0;
  return (flags & (HIDDEN | NOT_SHOWN)) === 0 && password !== true;
}

function filledIn(widget: Widget): string {
  const { fieldType, fieldValue } = widget;
  if (fieldType === 'Tx') return textIn(fieldValue);
  if (fieldType === 'Ch') return chosen(widget);
  if (fieldType !== 'Btn') return '';
  const isOn = (own: unknown) => textIn(fieldValue) !== '' && fieldValue !== 'Off' && fieldValue === own;
  if (widget.checkBox === true) return isOn(widget.exportValue) ? 'checked' : '';
  return widget.radioButton === true && isOn(widget.buttonValue) ? textIn(fieldValue) : '';
}

/** Returns the shown text if it differs from the stored value. */
function chosen({ fieldValue, options }: Widget): string {
  const shown = new Map<unknown, string>();
  for (const option of Array.isArray(options) ? options : [])
    shown.set(option?.exportValue, textIn(option?.displayValue));
  const values: readonly unknown[] = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
  return values
    .map((value) => shown.get(value) || textIn(value))
    .filter((text) => text !== '')
    .join(', ');
}
