import { defineTool } from '@runwire/agency';

const OPERATIONS = {
  add: (a: number, b: number) => a + b,
  subtract: (a: number, b: number) => a - b,
  multiply: (a: number, b: number) => a * b,
  divide: (a: number, b: number) => a / b,
} as const;

interface CalculateInput {
  readonly operation: keyof typeof OPERATIONS;
  readonly a: number;
  readonly b: number;
}

export const calculate = defineTool({
  name: 'calculate',
  description: 'Adds, subtracts, multiplies or divides two numbers.',
  inputSchema: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: Object.keys(OPERATIONS) },
      a: { type: 'number' },
      b: { type: 'number' },
    },
    required: ['operation', 'a', 'b'],
    additionalProperties: false,
  },
  repeatable: true,
  execute(input) {
    const { operation, a, b } = input as CalculateInput;
    const result = OPERATIONS[operation](a, b);
    if (!Number.isFinite(result)) throw new Error('The result is not a number.');
    return String(result);
  },
});
