import {
  ColumnNode,
  createQueryId,
  DeleteQueryNode,
  FromNode,
  InsertQueryNode,
  type Kysely,
  type OperationNode,
  RawNode,
  ReferenceNode,
  ReturningNode,
  type RootOperationNode,
  SelectionNode,
  SelectQueryNode,
  sql,
  TableNode,
  UpdateQueryNode,
  UsingNode,
  ValueNode,
  ValuesNode,
} from 'kysely';
import type { Schema } from '../schema.ts';
import type { Gathering, Statement } from '../statement.ts';

/** The column with the call's index, from 1 on, in a gathered statement's rows. */
export const CALL = 'gathered_call';

/** One parameter's values in all calls. */
class Column {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

export interface GatheredStatement {
  readonly name: string;
  readonly sql: string;
  /** True if the result has a row with the call's index for each row that was changed or found. */
  readonly tellsCalls: boolean;
  bind(calls: readonly unknown[]): unknown[];
}

/**
 * Makes one statement of several calls. The parameters of all calls are the rows of `f`, one array for each parameter, and
 * the statement reads `f` instead of its parameters:
 *
 *   insert … values ($1)      → insert … select f.p1 from unnest($1) f
 *   update … id = $1          → update … from unnest($1) f … id = f.p1 returning f.gathered_call
 *   select … id = $1          → select f.gathered_call, q.* from unnest($1) f cross join lateral (select … id = f.p1) q
 */
export function gatherStatement<P, R>(
  db: Kysely<Schema>,
  source: Statement<P, R>,
  { types }: Gathering<P>,
): GatheredStatement {
  const keys: string[] = [];
  const references = new Proxy({}, { get: (_, key) => sql.raw(`f.p${indexIn(keys, String(key))}`) }) as P;
  const query = source.build(db, references);
  const { text, parameters, tellsCalls } =
    'toOperationNode' in query ? changing(db, query, keys, types) : written(query, keys, types);
  const plan = parameters.map((value) => (value instanceof Column ? value.key : { constant: value }));
  return {
    name: `${source.name}, gathered`,
    sql: text,
    tellsCalls,
    bind: (calls) =>
      plan.map((entry) =>
        typeof entry === 'string'
          ? calls.map((params) => (params as Readonly<Record<string, unknown>>)[entry])
          : entry.constant,
      ),
  };
}

interface StatementText {
  readonly text: string;
  readonly parameters: readonly unknown[];
  readonly tellsCalls: boolean;
}

function indexIn(keys: string[], key: string): number {
  const index = keys.indexOf(key);
  return index === -1 ? keys.push(key) : index + 1;
}

type Types = Readonly<Record<string, string>>;

const arrayType = (types: Types, key: string) => `${types[key] ?? 'text'}[]`;

function changing(db: Kysely<Schema>, query: object, keys: readonly string[], types: Types): StatementText {
  const node = (query as { toOperationNode(): RootOperationNode }).toOperationNode();
  const rows = callRows(keys, types);
  const told = ReturningNode.create([
    SelectionNode.create(ReferenceNode.create(ColumnNode.create(CALL), TableNode.create('f'))),
  ]);
  let changed: RootOperationNode;
  if (InsertQueryNode.is(node)) changed = { ...node, values: selected(node.values, rows) };
  else if (UpdateQueryNode.is(node)) changed = { ...node, from: FromNode.create([rows]), returning: told };
  else if (DeleteQueryNode.is(node)) changed = { ...node, using: UsingNode.create([rows]), returning: told };
  else throw new Error(`A ${node.kind} cannot be gathered.`);
  const { sql: text, parameters } = db.getExecutor().compileQuery(changed, createQueryId());
  return { text, parameters, tellsCalls: !InsertQueryNode.is(node) };
}

/** `unnest($1, $2) with ordinality as f(p1, p2, gathered_call)` */
function callRows(keys: readonly string[], types: Types): OperationNode {
  const fragments = keys.map(
    (key, index) => `${index === 0 ? 'unnest(' : `::${arrayType(types, keys[index - 1] ?? key)}, `}`,
  );
  const last = keys.at(-1) ?? '';
  const names = keys.map((_, index) => `p${index + 1}`).join(', ');
  const end = `::${arrayType(types, last)}) with ordinality as f(${names}, ${CALL})`;
  return RawNode.create(
    [...fragments, end],
    keys.map((key) => ValueNode.create(new Column(key))),
  );
}

/** The rows that an insert adds: its values, read from the calls, or its own query, joined with the calls. */
function selected(values: OperationNode | undefined, rows: OperationNode): OperationNode {
  if (values === undefined) throw new Error('An insert without values cannot be gathered.');
  if (SelectQueryNode.is(values)) {
    return { ...values, from: FromNode.create([...(values.from?.froms ?? []), rows]) } as SelectQueryNode;
  }
  const [row] = ValuesNode.is(values) ? values.values : [];
  if (row === undefined || row.kind !== 'ValueListNode') throw new Error('This insert cannot be gathered.');
  const separators = row.values.map((_, index) => (index === 0 ? 'select ' : ', '));
  return RawNode.create([...separators, ' from ', ''], [...row.values, rows]);
}

/** A statement that is written as text: a query, or an insert of one row of values. */
function written(query: WrittenQuery, keys: readonly string[], types: Types): StatementText {
  const { sql: own, parameters } = query.compile();
  const arrays = keys.map((key, index) => `$${parameters.length + index + 1}::${arrayType(types, key)}`);
  const names = keys.map((_, index) => `p${index + 1}`);
  const rows = `unnest(${arrays.join(', ')}) with ordinality as f(${names.join(', ')}, ${CALL})`;
  const columns = [...parameters, ...keys.map((key) => new Column(key))];
  if (own.startsWith('insert')) {
    const text = own.replace(/\bvalues\s*\(([^()]*)\)/, (_, values) => `select ${values} from ${rows}`);
    return { text, parameters: columns, tellsCalls: false };
  }
  // `offset 0` keeps the query as it is. As part of one large join it could get a plan that reads whole tables.
  const text = `select f.${CALL}, q.* from ${rows} cross join lateral (${own} offset 0) q`;
  return { text, parameters: columns, tellsCalls: true };
}

interface WrittenQuery {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
}
