import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { LoadedAgent } from '../agencies/loaded-agency.ts';
import type { McpTool } from '../agent/mcp-port.ts';
import { checkApproval } from './check-approval.ts';

const agent = (...approval: readonly string[]) =>
  ({
    ...{ name: 'A', tools: [], builtIn: ['write_file'], flows: [] },
    ...{ approval: new Set(approval), editable: new Set(), remember: new Set() },
  }) as unknown as LoadedAgent;

const tool = (...possibleNames: readonly string[]) => ({ name: possibleNames[0], possibleNames }) as McpTool;

/** The names in the lines that these checks log. */
function listUnknown(check: (logger: pino.Logger) => void): readonly string[][] {
  const lines: string[] = [];
  check(pino({ level: 'warn' }, { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line).unknown);
}

test('names in `approval` that no tool has are logged once per list of tools', () => {
  const mcp = { tools: [tool('a_pay', 'a_pay_12345678')], shown: [], failed: [], isComplete: true };
  const given = agent('a_pay_12345678', 'write_file', 'a_refund');
  const unknown = listUnknown((logger) => {
    checkApproval(given, { ...mcp, isComplete: false }, logger);
    checkApproval(given, mcp, logger);
    checkApproval(given, mcp, logger);
  });
  assert.deepEqual(unknown, [['a_refund']]);
});

test('known names are not logged', () => {
  const mcp = { tools: [tool('a_pay', 'a_pay_12345678')], shown: [], failed: [], isComplete: true };
  assert.deepEqual(
    listUnknown((logger) => checkApproval(agent('a_pay', 'write_file'), mcp, logger)),
    [],
  );
});
