import { readFileSync } from 'node:fs';
import { JsonRefused, parseStrictJson } from '@runwire/lib/strict-json.ts';
import { type ModelPrice, NO_PRICES, PRICE_DIGITS, type Prices } from '../domain/model/prices.ts';
import { StartRefused } from '../domain/start-refused.ts';

const EXAMPLE = '{"openai/gpt-5":{"input":1.25,"cachedInput":0.125,"output":10}}';
const FIELDS = ['input', 'cachedInput', 'output'] as const;
const MAX_PRICE = 1e9;
const SHAPE = 'give each model exactly `input`, `cachedInput` and `output`, for a million tokens';

/** `RUNWIRE_PRICES`: the table as JSON, or a path to a file that contains it. With a currency the table is in `models`. */
export function readPrices(text: string): Prices {
  const inline = text.trimStart().startsWith('{');
  const table = parse(inline ? Buffer.from(text) : readFile(text), inline ? 'RUNWIRE_PRICES' : text);
  if (!isObject(table)) throw refused(`must be an object of models, such as ${EXAMPLE}`);
  if (Object.keys(table).length === 0) return NO_PRICES;
  if (!('currency' in table) && !('models' in table)) return { currency: null, models: readModels(table) };
  const { currency, models, ...rest } = table;
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    throw refused('needs `currency`: three capital letters, such as EUR');
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw refused(`has \`${unknown}\` beside \`currency\`; write models into \`models\``);
  if (!isObject(models)) throw refused(`needs \`models\` beside \`currency\`: an object such as ${EXAMPLE}`);
  return { currency, models: readModels(models) };
}

const readModels = (table: Record<string, unknown>): Prices['models'] =>
  new Map(Object.entries(table).map(([model, price]) => [model, readPrice(model, price)]));

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'it cannot be read';
    throw refused(`names a file that cannot be read, ${path} (${why}); set it to a readable file, or to JSON itself`);
  }
}

function parse(bytes: Buffer, where: string): unknown {
  try {
    return parseStrictJson(bytes, { maxDepth: 4, maxValues: 100_000 });
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    const why = error.message.replace(/^The body/, 'it').replace(/\.$/, '');
    throw refused(`has no valid price table in ${where}: ${why}; write it as ${EXAMPLE}`);
  }
}

function readPrice(model: string, price: unknown): ModelPrice {
  if (!/^[^/\s]+\/\S+$/.test(model)) throw refused(`has \`${model}\`, which is not a model; write \`provider/model\``);
  if (!isObject(price)) throw refused(`has no prices for \`${model}\`; ${SHAPE}`);
  const unknown = Object.keys(price).find((field) => !(FIELDS as readonly string[]).includes(field));
  if (unknown !== undefined) throw refused(`has \`${unknown}\` for \`${model}\`, which is not a price; ${SHAPE}`);
  const read = (field: (typeof FIELDS)[number]) => {
    const credits = price[field];
    const micro = typeof credits === 'number' ? Math.round(credits * 10 ** PRICE_DIGITS) : Number.NaN;
    const exact = typeof credits === 'number' && Number(credits.toFixed(PRICE_DIGITS)) === credits;
    if (!exact || micro < 0 || micro > MAX_PRICE * 10 ** PRICE_DIGITS) {
      throw refused(
        `needs \`${field}\` for \`${model}\`: the price of a million tokens, a number from 0 to ${MAX_PRICE} with at most ` +
          `${PRICE_DIGITS} digits after the point`,
      );
    }
    return micro;
  };
  return { input: read('input'), cachedInput: read('cachedInput'), output: read('output') };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(problem: string): StartRefused {
  return new StartRefused(`RUNWIRE_PRICES ${problem}.`);
}
